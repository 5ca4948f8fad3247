     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3
     4 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves b
          Reserve        BudgetAllows: chat-1 goes to b (1 of 2 in use)
          event          Proven: version b is proven on its first pod
     6 s  Progressing 1/4 available 2
     7 s  Progressing 1/4 available 3
          Reserve        BudgetAllows: chat-2 goes to b (1 of 2 in use)
     7 s  Progressing 1/4 available 2
     9 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/4 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
    11 s  Progressing 1/4 available 2
          RestartEngine  Poisoned: chat-2 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-2 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
    70 s  Progressing 1/4 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
    71 s  Progressing 1/4 available 2
          RestartEngine  Poisoned: chat-2 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-2 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
   130 s  Progressing 1/4 available 2
          EvictPod       BeyondRepair: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
          event          PodEvicted: chat-1 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   130 s  Progressing 1/3 available 2
   131 s  Progressing 1/3 available 2
          event          Held: ReplacingPods: chat-2 is evicted when chat-1 is gone (its engine was asked 2 times to restart and did not (repair.retries 1))
          hold Repair/ReplacingPods: chat-2 is evicted when chat-1 is gone (its engine was asked 2 times to restart and did not (repair.retries 1))
   132 s  Progressing 1/4 available 2
          EvictPod       BeyondRepair: chat-2 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
          event          PodEvicted: chat-2 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   132 s  Progressing 1/3 available 2
   134 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
   134 s  Progressing 1/4 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
   136 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   136 s  Progressing 1/4 available 2
          Reserve        NotInService: chat-2 goes to b (not in service)
   137 s  Progressing 2/4 available 2
          PutIn          Swapped: chat-1 serves b
   138 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   138 s  Progressing 2/4 available 3
          Reserve        BudgetAllows: chat-3 goes to b (1 of 2 in use)
   138 s  Progressing 2/4 available 2
   139 s  Progressing 3/4 available 2
          PutIn          Swapped: chat-2 serves b
   140 s  Progressing 3/4 available 3
   141 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
   142 s  Progressing 3/4 available 3
          RestartEngine  Poisoned: chat-3 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-3 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
   202 s  Progressing 3/4 available 3
          RestartEngine  Poisoned: chat-3 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-3 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
   262 s  Progressing 3/4 available 3
          EvictPod       BeyondRepair: chat-3 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
          event          PodEvicted: chat-3 is out of service and beyond repair: its engine was asked 2 times to restart and did not (repair.retries 1) (repair.allowDelete)
   262 s  Progressing 3/3 available 3
   264 s  Progressing 3/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
   266 s  Progressing 3/4 available 3
          Reserve        NotInService: chat-3 goes to b (not in service)
   268 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
   269 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves b
   270 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
   270 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
