     0 s  Progressing 0/3 available 3 step 0/1
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3 step 0/1
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3 step 0/1
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2 step 0/1
     4 s  Progressing 0/3 available 2 step 0/1
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2 step 0/1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 2 step 0/1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
--- version c
     7 s  Progressing 1/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/3 available 2 step 0/1
    10 s  Progressing 1/3 available 2 step 0/1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/3 available 2 step 0/1
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 2/3 available 2 step 0/1
    15 s  Progressing 2/3 available 2 step 0/1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 2/3 available 2 step 0/1
          event          PodFailed: TransferFailed: the engine refused block 7
    17 s  Progressing 2/3 available 3 step 0/1
          hold BackOff/RetryBackOff: chat-2 is tried again after a pause: TransferFailed: the engine refused block 7
    21 s  Progressing 2/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    21 s  Progressing 2/3 available 2 step 0/1
    24 s  Progressing 2/3 available 2 step 0/1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    25 s  Progressing 2/3 available 2 step 0/1
          event          PodFailed: TransferFailed: the engine refused block 7
    26 s  Progressing 2/3 available 3 step 0/1
          hold BackOff/RetryBackOff: chat-2 is tried again after a pause: TransferFailed: the engine refused block 7
    35 s  Progressing 2/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    35 s  Progressing 2/3 available 2 step 0/1
    38 s  Progressing 2/3 available 2 step 0/1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    39 s  Progressing 2/3 available 2 step 0/1
          event          PodFailed: TransferFailed: the engine refused block 7
    40 s  Progressing 0/3 available 3 step 0/1
          RecordRevision NewRevision: version c is revision 3
    40 s  Progressing 0/3 available 3 step 0/1
          Stage          Scout: chat-2 reads c from file:///models/c/
    42 s  Progressing 0/3 available 3 step 0/1
          RecordRevision DigestPinned: chat-2 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-2 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    42 s  Progressing 0/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-2 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-0 reads c sha256:cccccccc..
    42 s  Progressing 0/3 available 2 step 0/1
    44 s  Progressing 0/3 available 2 step 0/1
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    45 s  Progressing 0/3 available 2 step 0/1
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
    46 s  Progressing 1/3 available 2 step 0/1
          PutIn          Swapped: chat-2 serves c
          event          Proven: version c is proven on its first pod
    47 s  Progressing 1/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
    47 s  Progressing 1/3 available 2 step 0/1
    50 s  Progressing 1/3 available 2 step 0/1
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    51 s  Progressing 2/3 available 2 step 0/1
          PutIn          Swapped: chat-0 serves c
    52 s  Progressing 2/3 available 3 step 0/1
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
    52 s  Progressing 2/3 available 2 step 0/1
    55 s  Progressing 2/3 available 2 step 0/1
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
    56 s  Progressing 3/3 available 2 step 0/1
          PutIn          Swapped: chat-1 serves c
    57 s  Progressing 3/3 available 3 step 1/1
          RecordRevision AllPodsVerified: all 3 pods serve c
    57 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load c
          event          RolloutComplete: all pods serve c
