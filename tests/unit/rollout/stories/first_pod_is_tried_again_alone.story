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
    15 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          Reserve        BudgetAllows: chat-1 goes to b (1 of 3 in use)
          Reserve        BudgetAllows: chat-2 goes to b (2 of 3 in use)
          event          Proven: version b is proven on its first pod
    15 s  Progressing 1/3 available 0
