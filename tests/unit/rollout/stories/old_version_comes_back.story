     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/2 available 1
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
--- back to a in the spec
    12 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version a comes back as revision 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          RolloutStarted: version a is desired
    12 s  Progressing 0/2 available 1
    15 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    16 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
    17 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    17 s  Progressing 1/2 available 1
    20 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    21 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves a
    22 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
--- and b once more
    22 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b comes back as revision 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          event          RolloutStarted: version b is desired
    22 s  Progressing 0/2 available 1
    25 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    26 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    27 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    27 s  Progressing 1/2 available 1
    30 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    31 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    32 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
