     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 3 in use)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/3 available 2
     6 s  Progressing 0/3 available 2
          Reserve        BudgetAllows: chat-2 goes to b (1 of 3 in use)
     6 s  Progressing 0/3 available 1
     7 s  Progressing 0/3 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     8 s  Progressing 1/3 available 1
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
     9 s  Progressing 1/3 available 1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
     9 s  Progressing 1/3 available 2
    10 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves b
    11 s  Progressing 2/3 available 3
          event          Held: NoDisruptionLeft: PodDisruptionBudget gold allows no disruption (1 of 1 pods are healthy and 1 must be): let it allow one more, or set strategy.ignorePDB: true
          hold Disruption/NoDisruptionLeft: PodDisruptionBudget gold allows no disruption (1 of 1 pods are healthy and 1 must be): let it allow one more, or set strategy.ignorePDB: true
