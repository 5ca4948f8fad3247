--- version b, which chat-1 never takes
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
          event          PodFailed: DrainTimeout: 3 requests still run
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
    22 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
    31 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    31 s  Progressing 2/3 available 2
    34 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    36 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
    55 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    55 s  Progressing 2/3 available 2
    58 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    60 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
    99 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    99 s  Progressing 2/3 available 2
   102 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   104 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
   183 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
   183 s  Progressing 2/3 available 2
   186 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   188 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
   347 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
   347 s  Progressing 2/3 available 2
   350 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   352 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
   616 s  Progressing 2/3 available 3
          RecordRevision ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600
          event          RevisionRejected: version b: ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600
   616 s  RollingBack 1/3 available 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          RollbackStarted: b was rejected (ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600); going back: 1 of 3 pods serve a
   616 s  RollingBack 1/3 available 2
   619 s  RollingBack 1/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
   620 s  RollingBack 2/3 available 2
          PutIn          Swapped: chat-0 serves a
   621 s  RollingBack 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
   621 s  RollingBack 2/3 available 2
   624 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
   625 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-2 serves a
   626 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600); the fleet serves a: publish a new version
--- version c, which chat-1 never takes
   653 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
   653 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads c from file:///models/c/
   655 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
   655 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
   655 s  Progressing 0/3 available 2
   657 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads c sha256:cccccccc..
   658 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
   659 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves c
          event          Proven: version c is proven on its first pod
   660 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
   660 s  Progressing 1/3 available 2
   663 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
   664 s  Progressing 1/3 available 2
          event          PodFailed: DrainTimeout: 3 requests still run
   665 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-2 goes to c (0 of 1 in use)
   665 s  Progressing 1/3 available 2
   668 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
   669 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves c
   670 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
   964 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
   964 s  Progressing 2/3 available 2
   967 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
   969 s  Progressing 2/3 available 3
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: DrainTimeout: 3 requests still run
  1268 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
  1268 s  Progressing 2/3 available 2
  1269 s  Progressing 2/3 available 2
          RecordRevision ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600
          event          RevisionRejected: version c: ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600
  1269 s  RollingBack 1/3 available 2
          Release        NoLongerWanted: chat-1 is given back: it has nothing to load
          event          RollbackStarted: c was rejected (ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600); going back: 1 of 3 pods serve a; swapping chat-1
  1269 s  RollingBack 1/3 available 2
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
  1270 s  RollingBack 1/3 available 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
  1270 s  RollingBack 1/3 available 2
  1273 s  RollingBack 1/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
  1274 s  RollingBack 2/3 available 2
          PutIn          Swapped: chat-0 serves a
  1275 s  RollingBack 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
  1275 s  RollingBack 2/3 available 2
  1278 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
  1279 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-2 serves a
  1280 s  RolledBack 3/3 available 3
          event          RolledBack: c was rejected (ProgressDeadlineExceeded: no progress for progressDeadlineSeconds 600); the fleet serves a: publish a new version
