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
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/3 available 2
    10 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 1/3 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
    71 s  Progressing 1/3 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
   131 s  Progressing 1/3 available 2
          EvictPod       BeyondRepair: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
          event          PodEvicted: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   131 s  Progressing 1/3 available 2
          event          PodFailed: Refused: Evict: the story says so
          event          Held: Refused: Evict of chat-1: the story says so
          hold Environment/Refused: Evict of chat-1: the story says so
--- the operator may evict
   161 s  Progressing 1/3 available 2
          EvictPod       BeyondRepair: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   161 s  Progressing 1/2 available 2
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
   163 s  Progressing 1/3 available 2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
   165 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
   167 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   168 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
   169 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
   169 s  Progressing 2/3 available 2
   172 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   173 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
   174 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
   174 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
