     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 3 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/3 available 2
          event          PodFailed: TransferFailed: the engine refused block 7
     7 s  Progressing 0/3 available 3
          hold BackOff/RetryBackOff: chat-0 is tried again after a pause: TransferFailed: the engine refused block 7
    11 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 3 in use)
    11 s  Progressing 0/3 available 2
    14 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    15 s  Progressing 0/3 available 2
          event          PodFailed: TransferFailed: the engine refused block 7
    16 s  Progressing 0/3 available 3
          hold BackOff/RetryBackOff: chat-0 is tried again after a pause: TransferFailed: the engine refused block 7
    25 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 3 in use)
    25 s  Progressing 0/3 available 2
    28 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    29 s  Progressing 0/3 available 2
          RecordRevision ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7
          event          RevisionRejected: version b: ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7
          event          PodFailed: TransferFailed: the engine refused block 7
    29 s  RollingBack 3/3 available 2
          event          RollbackStarted: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7); going back: 3 of 3 pods serve a
    30 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: TransferFailed: the engine refused block 7); the fleet serves a: publish a new version
