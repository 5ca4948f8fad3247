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
--- two pods more
    11 s  Progressing 2/6 available 3
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
    12 s  Progressing 2/6 available 4
    13 s  Progressing 2/6 available 4
          Reserve        NotInService: chat-4 goes to b (not in service)
          Stage          NotStaged: chat-5 reads b sha256:bbbbbbbb..
    15 s  Progressing 2/6 available 4
          SwapPod        Settled: chat-4 swaps to b: out of its endpoints and settled
    15 s  Progressing 2/6 available 4
          Reserve        NotInService: chat-5 goes to b (not in service)
    16 s  Progressing 3/6 available 4
          PutIn          Swapped: chat-4 serves b
    17 s  Progressing 3/6 available 4
          SwapPod        Settled: chat-5 swaps to b: out of its endpoints and settled
    17 s  Progressing 3/6 available 5
    18 s  Progressing 4/6 available 5
          PutIn          Swapped: chat-5 serves b
    19 s  Progressing 4/6 available 6
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    19 s  Progressing 4/6 available 5
    22 s  Progressing 4/6 available 5
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    23 s  Progressing 5/6 available 5
          PutIn          Swapped: chat-2 serves b
    24 s  Progressing 5/6 available 6
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    24 s  Progressing 5/6 available 5
    27 s  Progressing 5/6 available 5
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    28 s  Progressing 6/6 available 5
          PutIn          Swapped: chat-3 serves b
    29 s  Progressing 6/6 available 6
          RecordRevision AllPodsVerified: all 6 pods serve b
    29 s  Complete 6/6 available 6
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
