     0 s  Progressing 0/7 available 7
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/7 available 7
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/7 available 7
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/7 available 7
          Reserve        BudgetAllows: chat-0 goes to b (0 of 3 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/7 available 6
     4 s  Progressing 0/7 available 6
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/7 available 6
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/7 available 6
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/7 available 6
          PutIn          Swapped: chat-0 serves b
          Reserve        BudgetAllows: chat-1 goes to b (1 of 3 in use)
          Reserve        BudgetAllows: chat-2 goes to b (2 of 3 in use)
          event          Proven: version b is proven on its first pod
     6 s  Progressing 1/7 available 4
     7 s  Progressing 1/7 available 5
     8 s  Progressing 1/7 available 5
          Reserve        BudgetAllows: chat-3 goes to b (2 of 3 in use)
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
     8 s  Progressing 1/7 available 4
     9 s  Progressing 1/7 available 4
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/7 available 4
          Stage          NotStaged: chat-5 reads b sha256:bbbbbbbb..
    10 s  Progressing 2/7 available 4
          PutIn          Swapped: chat-1 serves b
    10 s  Progressing 3/7 available 4
          PutIn          Swapped: chat-2 serves b
    11 s  Progressing 3/7 available 4
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    11 s  Progressing 3/7 available 5
          Reserve        BudgetAllows: chat-4 goes to b (2 of 3 in use)
    12 s  Progressing 3/7 available 5
          Reserve        BudgetAllows: chat-5 goes to b (2 of 3 in use)
          Stage          NotStaged: chat-6 reads b sha256:bbbbbbbb..
    12 s  Progressing 4/7 available 4
          PutIn          Swapped: chat-3 serves b
    13 s  Progressing 4/7 available 5
    14 s  Progressing 4/7 available 5
          SwapPod        Settled: chat-4 swaps to b: out of its endpoints and settled
    14 s  Progressing 4/7 available 5
          Reserve        BudgetAllows: chat-6 goes to b (2 of 3 in use)
    14 s  Progressing 4/7 available 4
    15 s  Progressing 4/7 available 4
          SwapPod        Settled: chat-5 swaps to b: out of its endpoints and settled
    15 s  Progressing 5/7 available 4
          PutIn          Swapped: chat-4 serves b
    16 s  Progressing 6/7 available 4
          PutIn          Swapped: chat-5 serves b
    16 s  Progressing 6/7 available 5
    17 s  Progressing 6/7 available 5
          SwapPod        Settled: chat-6 swaps to b: out of its endpoints and settled
    17 s  Progressing 6/7 available 6
    18 s  Progressing 7/7 available 6
          PutIn          Swapped: chat-6 serves b
    19 s  Progressing 7/7 available 7
          RecordRevision AllPodsVerified: all 7 pods serve b
    19 s  Complete 7/7 available 7
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
