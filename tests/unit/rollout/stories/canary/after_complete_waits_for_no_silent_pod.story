     0 s  Progressing 0/4 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 3
          Reserve        BudgetAllows: chat-0 goes to b (1 of 2 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 2
     4 s  Progressing 0/4 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/4 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
--- version c
     7 s  Progressing 1/4 available 3
          Reserve        BudgetAllows: chat-1 goes to b (1 of 2 in use)
     7 s  Progressing 1/4 available 2
    10 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/4 available 2
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/4 available 3
          Reserve        BudgetAllows: chat-2 goes to b (1 of 2 in use)
    12 s  Progressing 2/4 available 2
    15 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 3/4 available 2
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 0/4 available 3
          RecordRevision NewRevision: version c is revision 3
    17 s  Progressing 0/4 available 3
          Stage          Scout: chat-0 reads c from file:///models/c/
    19 s  Progressing 0/4 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    19 s  Progressing 0/4 available 3
          Reserve        BudgetAllows: chat-0 goes to c (1 of 2 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    19 s  Progressing 0/4 available 2
    21 s  Progressing 0/4 available 2
          Stage          NotStaged: chat-2 reads c sha256:cccccccc..
    22 s  Progressing 0/4 available 2
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    23 s  Progressing 1/4 available 2
          PutIn          Swapped: chat-0 serves c
          event          Proven: version c is proven on its first pod
    24 s  Progressing 1/4 available 3
          Reserve        BudgetAllows: chat-1 goes to c (1 of 2 in use)
    24 s  Progressing 1/4 available 2
    27 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
    28 s  Progressing 2/4 available 2
          PutIn          Swapped: chat-1 serves c
    29 s  Progressing 2/4 available 3
          Reserve        BudgetAllows: chat-2 goes to c (1 of 2 in use)
    29 s  Progressing 2/4 available 2
    32 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
    33 s  Progressing 3/4 available 2
          PutIn          Swapped: chat-2 serves c
