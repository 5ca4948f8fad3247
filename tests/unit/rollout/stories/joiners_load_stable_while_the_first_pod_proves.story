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
--- one pod more
     5 s  Progressing 0/4 available 2
          Reserve        NotInService: chat-3 goes to a (not in service)
     6 s  Progressing 1/4 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/4 available 2
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
     7 s  Progressing 1/4 available 3
     8 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-3 serves a
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     9 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     9 s  Progressing 1/4 available 3
    12 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    13 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves b
    14 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    14 s  Progressing 2/4 available 3
    17 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    18 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves b
    19 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    19 s  Progressing 3/4 available 3
    22 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    23 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves b
    24 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
    24 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
