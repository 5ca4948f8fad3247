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
--- version c, and a moment later d
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
    16 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    17 s  Progressing 3/4 available 3
    20 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    21 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves b
    22 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
    22 s  Progressing 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: 4 of 4 pods serve b; then d begins (strategy.supersede)
    22 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version d is revision 3
    22 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads d from file:///models/d/
    24 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/d/: sha256:dddddddd.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/d/: sha256:dddddddd.. is pinned for all pods
    24 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to d (0 of 1 in use)
          Stage          NotStaged: chat-1 reads d sha256:dddddddd..
    24 s  Progressing 0/4 available 3
    26 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads d sha256:dddddddd..
    27 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to d: out of its endpoints and settled
    28 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads d sha256:dddddddd..
    28 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves d
          event          Proven: version d is proven on its first pod
    29 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to d (0 of 1 in use)
    29 s  Progressing 1/4 available 3
    32 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to d: out of its endpoints and settled
    33 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves d
    34 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to d (0 of 1 in use)
    34 s  Progressing 2/4 available 3
    37 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to d: out of its endpoints and settled
    38 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves d
    39 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to d (0 of 1 in use)
    39 s  Progressing 3/4 available 3
    42 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to d: out of its endpoints and settled
    43 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves d
    44 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve d
    44 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load d
