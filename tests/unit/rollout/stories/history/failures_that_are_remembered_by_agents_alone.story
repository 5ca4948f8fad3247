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
          event          PodFailed: TransferFailed: the engine refused block 7
    12 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 1/3 available 2
    15 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    17 s  Progressing 2/3 available 2
    20 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    21 s  Progressing 2/3 available 2
          event          PodFailed: TransferFailed: the engine refused block 7
--- status and memory are lost
    21 s  Progressing 2/3 available 2
          event          RolloutStarted: version b is desired
          event          PodFailed: TransferFailed: the engine refused block 7
    22 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: TransferFailed: the engine refused block 7
    31 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    31 s  Progressing 2/3 available 2
    34 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    35 s  Progressing 2/3 available 2
          RecordRevision TooManyFailed: chat-1 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7
          event          RevisionRejected: version b: TooManyFailed: chat-1 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7
          event          PodFailed: TransferFailed: the engine refused block 7
    35 s  RollingBack 1/3 available 2
          event          RollbackStarted: b was rejected (TooManyFailed: chat-1 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7); going back: 1 of 3 pods serve a
    36 s  RollingBack 1/3 available 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
    36 s  RollingBack 1/3 available 2
    39 s  RollingBack 1/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    40 s  RollingBack 2/3 available 2
          PutIn          Swapped: chat-0 serves a
    41 s  RollingBack 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    41 s  RollingBack 2/3 available 2
    44 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    45 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-2 serves a
    46 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (TooManyFailed: chat-1 failed for good, strategy.maxFailed is 0: TransferFailed: the engine refused block 7); the fleet serves a: publish a new version
