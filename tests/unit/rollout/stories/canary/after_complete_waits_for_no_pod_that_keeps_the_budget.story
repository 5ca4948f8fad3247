     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
--- the engine of chat-1 restarts, and crashes whatever it loads
     6 s  Progressing 1/3 available 1
          Reserve        NotInService: chat-1 goes to b (not in service)
     7 s  Progressing 1/3 available 2
     9 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    15 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
    17 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    18 s  Progressing 1/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    28 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
    30 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    31 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
          event          PodFailed: EngineCrashed: the engine process ended
    33 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    34 s  Progressing 1/3 available 2
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    74 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
    76 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    77 s  Progressing 1/3 available 2
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
   157 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
   159 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
   160 s  Progressing 1/3 available 2
          event          Held: BeyondRepair: chat-1 is out of service: it used up repair.retries 2 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
          hold Repair/BeyondRepair: chat-1 is out of service: it used up repair.retries 2 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
--- version c
   160 s  Progressing 0/3 available 2
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
   160 s  Progressing 0/3 available 2
          Stage          Scout: chat-1 reads c from file:///models/c/
   162 s  Progressing 0/3 available 2
          RecordRevision DigestPinned: chat-1 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-1 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
   162 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to c (not in service)
          Stage          NotStaged: chat-2 reads c sha256:cccccccc..
   164 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
   164 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-0 reads c sha256:cccccccc..
   165 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-1 serves c
          event          Proven: version c is proven on its first pod
   166 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-2 goes to c (0 of 1 in use)
   166 s  Progressing 1/3 available 2
   169 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
   170 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves c
   171 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
   171 s  Progressing 2/3 available 2
   174 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
   175 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-0 serves c
   176 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve c
   176 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load c
          event          RolloutComplete: all pods serve c
