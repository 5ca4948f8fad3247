     0 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
     2 s  Progressing 0/1 available 0
     5 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve b
     7 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
