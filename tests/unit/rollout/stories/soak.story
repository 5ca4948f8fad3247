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
     7 s  Progressing 1/3 available 3
          hold Soak/Soaking: chat-0 must serve strategy.soakSeconds before the next pod goes (strategy.maxUnavailable 1 allows 1)
    67 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    67 s  Progressing 1/3 available 2
    70 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    71 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
    72 s  Progressing 2/3 available 3
          hold Soak/Soaking: chat-1 must serve strategy.soakSeconds before the next pod goes (strategy.maxUnavailable 1 allows 1)
   132 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
   132 s  Progressing 2/3 available 2
   135 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   136 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
   137 s  Progressing 3/3 available 3
          hold Soak/Soaking: chat-2 serves for less than strategy.soakSeconds
   197 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
   197 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
