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
--- it allows one
  4004 s  Progressing 0/2 available 2
          event          Held: DisruptionBudgetUnknown: PodDisruptionBudget chat was not counted yet as it stands now: wait for its controller, or set strategy.ignorePDB: true
          hold Disruption/DisruptionBudgetUnknown: PodDisruptionBudget chat was not counted yet as it stands now: wait for its controller, or set strategy.ignorePDB: true
4004.25 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
4004.25 s  Progressing 0/2 available 1
4007.25 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
4008.25 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
4009.25 s  Progressing 1/2 available 2
4009.5 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 2 in use)
4009.5 s  Progressing 1/2 available 1
4012.5 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
4013.5 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
4014.5 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
4014.5 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
