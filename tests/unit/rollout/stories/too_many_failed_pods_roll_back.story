     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
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
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/4 available 3
    10 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 2/4 available 3
    15 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 2/4 available 3
          event          PodFailed: TransferFailed: the engine refused block 7
    17 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    17 s  Progressing 2/4 available 3
    20 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    21 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-3 serves b
    22 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    22 s  Progressing 3/4 available 3
    25 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    26 s  Progressing 3/4 available 3
          event          PodFailed: TransferFailed: the engine refused block 7
    27 s  Progressing 3/4 available 4
          hold BackOff/RetryBackOff: chat-2 is tried again after a pause: TransferFailed: the engine refused block 7
    36 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    36 s  Progressing 3/4 available 3
    39 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    40 s  Progressing 3/4 available 3
          RecordRevision TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7
          event          RevisionRejected: version b: TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7
          event          PodFailed: TransferFailed: the engine refused block 7
    40 s  RollingBack 1/4 available 3
          event          RollbackStarted: b was rejected (TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7); going back: 1 of 4 pods serve a
    41 s  RollingBack 1/4 available 4
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
    41 s  RollingBack 1/4 available 3
    44 s  RollingBack 1/4 available 3
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    45 s  RollingBack 2/4 available 3
          PutIn          Swapped: chat-0 serves a
    46 s  RollingBack 2/4 available 4
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    46 s  RollingBack 2/4 available 3
    49 s  RollingBack 2/4 available 3
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    50 s  RollingBack 3/4 available 3
          PutIn          Swapped: chat-1 serves a
    51 s  RollingBack 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to a (0 of 1 in use)
    51 s  RollingBack 3/4 available 3
    54 s  RollingBack 3/4 available 3
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
    55 s  RollingBack 4/4 available 3
          PutIn          Swapped: chat-3 serves a
    56 s  RolledBack 4/4 available 4
          event          RolledBack: b was rejected (TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7); the fleet serves a: publish a new version
