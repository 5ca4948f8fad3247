     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
          SwapPod        Reserved: chat-0 swaps to b: requests wait through the pause
     3 s  Progressing 1/2 available 2
          event          Proven: version b is proven on its first pod
     4 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 2 in use)
     4 s  Progressing 1/2 available 1
          SwapPod        Reserved: chat-1 swaps to b: requests wait through the pause
     5 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
     5 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
