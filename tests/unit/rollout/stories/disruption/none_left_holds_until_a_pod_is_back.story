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
          event          Held: NoDisruptionLeft: PodDisruptionBudget chat allows no disruption (3 of 4 pods are healthy and 3 must be, without chat-3): bring pods back, let it allow one more, or set strategy.ignorePDB: true
          hold Disruption/NoDisruptionLeft: PodDisruptionBudget chat allows no disruption (3 of 4 pods are healthy and 3 must be, without chat-3): bring pods back, let it allow one more, or set strategy.ignorePDB: true
--- the engine of chat-3 comes up
     6 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     8 s  Progressing 0/4 available 3
          Reserve        NotInService: chat-3 goes to b (not in service)
    10 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    11 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-3 serves b
          event          Proven: version b is proven on its first pod
    12 s  Progressing 1/4 available 4
 12.25 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 4 in use)
 12.25 s  Progressing 1/4 available 3
 15.25 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
 16.25 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-0 serves b
 17.25 s  Progressing 2/4 available 4
  17.5 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-1 goes to b (0 of 4 in use)
  17.5 s  Progressing 2/4 available 3
  20.5 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
  21.5 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-1 serves b
  22.5 s  Progressing 3/4 available 4
 22.75 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 4 in use)
 22.75 s  Progressing 3/4 available 3
 25.75 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
 26.75 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-2 serves b
 27.75 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
 27.75 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
