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
     6 s  Progressing 1/3 available 1
     7 s  Progressing 1/3 available 2
          event          Held: BeyondRepair: chat-1 is out of service: it used up repair.retries 0 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
          hold Repair/BeyondRepair: chat-1 is out of service: it used up repair.retries 0 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
--- repair.allowDelete: true
     7 s  Progressing 1/3 available 2
          EvictPod       BeyondRepair: chat-1 is out of service and beyond repair: it used up repair.retries 0 for all that it could serve (repair.allowDelete)
          event          PodEvicted: chat-1 is out of service and beyond repair: it used up repair.retries 0 for all that it could serve (repair.allowDelete)
     7 s  Progressing 1/2 available 2
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
     9 s  Progressing 1/3 available 2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    11 s  Progressing 1/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
    13 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    14 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
    15 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    15 s  Progressing 2/3 available 2
    18 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    19 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    20 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
    20 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
