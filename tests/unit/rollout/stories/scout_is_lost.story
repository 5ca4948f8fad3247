     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
--- the scout is gone
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-1 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
     7 s  Progressing 1/2 available 1
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-2 serves b
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
