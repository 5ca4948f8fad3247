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
    16 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves a
    17 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve a
    17 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
