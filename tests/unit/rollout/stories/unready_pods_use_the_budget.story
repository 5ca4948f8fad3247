     0 s  Progressing 0/4 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     6 s  Progressing 0/4 available 3
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-3 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-3 is not ready: bring these pods back or raise strategy.maxUnavailable
--- the agent of chat-3 answers again
     6 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 0/4 available 3
     9 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    11 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    11 s  Progressing 1/4 available 3
    14 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    15 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves b
    16 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    16 s  Progressing 2/4 available 3
    19 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    20 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves b
    21 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    21 s  Progressing 3/4 available 3
    24 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    25 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves b
    26 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
    26 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
