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
     6 s  Progressing 0/3 available 2
          event          PodFailed: TransferFailed: the engine refused block 7
--- the engine of chat-1 restarts, and crashes whenever it loads a
     6 s  Progressing 0/3 available 1
          Reserve        NotInService: chat-1 goes to a (not in service)
     7 s  Progressing 0/3 available 2
     9 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    10 s  Progressing 0/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    15 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
    17 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    18 s  Progressing 0/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    28 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
    30 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    31 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
          event          PodFailed: EngineCrashed: the engine process ended
    33 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    34 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
    35 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    35 s  Progressing 1/3 available 2
    38 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    39 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-0 serves b
    40 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    40 s  Progressing 2/3 available 2
    43 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    44 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    45 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
    45 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
