     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/2 available 2
          event          Held: NoDisruptionLeft: PodDisruptionBudget chat allows no disruption (2 of 2 pods are healthy and 2 must be): let it allow one more, or set strategy.ignorePDB: true
          hold Disruption/NoDisruptionLeft: PodDisruptionBudget chat allows no disruption (2 of 2 pods are healthy and 2 must be): let it allow one more, or set strategy.ignorePDB: true
--- strategy.ignorePDB: true
     4 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
          Reserve        BudgetAllows: chat-1 goes to b (1 of 2 in use)
     4 s  Progressing 0/2 available 0
     7 s  Progressing 0/2 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     8 s  Progressing 1/2 available 0
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     8 s  Progressing 2/2 available 0
          PutIn          Swapped: chat-1 serves b
     9 s  Progressing 2/2 available 1
     9 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
     9 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
