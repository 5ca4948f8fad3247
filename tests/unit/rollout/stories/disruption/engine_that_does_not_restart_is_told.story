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
          event          Held: BeyondRepair: chat-1 is out of service: its engine was asked 2 times to restart and did not (repair.retries 1): replace it, or repair.allowDelete: true evicts it
          hold Repair/BeyondRepair: chat-1 is out of service: its engine was asked 2 times to restart and did not (repair.retries 1): replace it, or repair.allowDelete: true evicts it
--- repair.allowDelete: true
   131 s  Progressing 1/3 available 2
          EvictPod       BeyondRepair: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
          event          PodEvicted: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   131 s  Progressing 1/2 available 2
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
   133 s  Progressing 1/3 available 2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
   135 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
   137 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   138 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
   139 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
   139 s  Progressing 2/3 available 2
   142 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   143 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
   144 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
   144 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
