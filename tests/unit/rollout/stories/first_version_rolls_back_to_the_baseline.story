     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
     7 s  Progressing 1/3 available 2
    10 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    11 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves a
    12 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    12 s  Progressing 2/3 available 2
    15 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    16 s  Progressing 2/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
    17 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-2 is tried again after a pause: EngineCrashed: the engine process ended
    21 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    21 s  Progressing 2/3 available 2
    24 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    25 s  Progressing 2/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
    26 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-2 is tried again after a pause: EngineCrashed: the engine process ended
    35 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    35 s  Progressing 2/3 available 2
    38 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    39 s  Progressing 2/3 available 2
          RecordRevision TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: EngineCrashed: the engine process ended
          event          RevisionRejected: version a: TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: EngineCrashed: the engine process ended
          event          PodFailed: EngineCrashed: the engine process ended
    39 s  RollingBack 1/3 available 2
          event          RollbackStarted: a was rejected (TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: EngineCrashed: the engine process ended); going back: 1 of 3 pods serve default
    40 s  RollingBack 1/3 available 3
          RestartEngine  BackToBaseline: chat-0 goes back to its base weights
          event          EngineRestartAsked: chat-0 goes back to its base weights
    40 s  RollingBack 1/3 available 2
    45 s  RollingBack 2/3 available 2
          PutIn          LabelDiffers: chat-0 serves default
    46 s  RollingBack 2/3 available 3
          RestartEngine  BackToBaseline: chat-1 goes back to its base weights
          event          EngineRestartAsked: chat-1 goes back to its base weights
    46 s  RollingBack 2/3 available 2
    51 s  RollingBack 3/3 available 2
          PutIn          LabelDiffers: chat-1 serves default
    52 s  RolledBack 3/3 available 3
          event          RolledBack: a was rejected (TooManyFailed: chat-2 failed for good, strategy.maxFailed is 0: EngineCrashed: the engine process ended); the fleet serves default: publish a new version
