     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/2 available 1
          event          PodFailed: TransferFailed: the engine refused block 7
     7 s  Progressing 0/2 available 2
          hold BackOff/RetryBackOff: chat-0 is tried again after a pause: TransferFailed: the engine refused block 7
    11 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    11 s  Progressing 0/2 available 1
    14 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    15 s  Progressing 0/2 available 1
          event          PodFailed: TransferFailed: the engine refused block 7
    16 s  Progressing 0/2 available 2
          hold BackOff/RetryBackOff: chat-0 is tried again after a pause: TransferFailed: the engine refused block 7
    25 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    25 s  Progressing 0/2 available 1
    28 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    29 s  Progressing 0/2 available 1
          RecordRevision ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7
          event          RevisionRejected: version b: ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7
          event          PodFailed: TransferFailed: the engine refused block 7
    29 s  RollingBack 2/2 available 1
          event          RollbackStarted: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7); going back: 2 of 2 pods serve a
    30 s  RolledBack 2/2 available 2
          event          RolledBack: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7); the fleet serves a: publish a new version
--- retry
    57 s  RolledBack 2/2 available 2
          RecordRevision Retried: b is tried again, because a person asked
    57 s  Progressing 0/2 available 2
          Accepted       retry:chat-806d6133a3@1: b is tried again from the first step
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          event          ActionAccepted: retry: b is tried again from the first step
    57 s  Progressing 0/2 available 1
    60 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    61 s  Progressing 0/2 available 1
          event          PodFailed: TransferFailed: the engine refused block 7
    62 s  Progressing 0/2 available 2
          hold BackOff/RetryBackOff: chat-0 is tried again after a pause: TransferFailed: the engine refused block 7
   101 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
   101 s  Progressing 0/2 available 1
   104 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   105 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
   106 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
   106 s  Progressing 1/2 available 1
   109 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   110 s  Progressing 1/2 available 1
          event          PodFailed: TransferFailed: the engine refused block 7
   111 s  Progressing 1/2 available 2
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: TransferFailed: the engine refused block 7
   115 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
   115 s  Progressing 1/2 available 1
   118 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   119 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
   120 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
   120 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
