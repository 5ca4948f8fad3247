     0 s  Progressing 0/2 available 0
          RecordRevision NewRevision: version a is revision 1
          PutIn          GateAnswer: chat-0 serves default
          PutIn          GateAnswer: chat-1 serves default
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/2 available 0
          Stage          Scout: chat-0 reads a from file:///models/a/
     1 s  Progressing 0/2 available 1
     1 s  Progressing 0/2 available 2
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/2 available 1
          TakeOutPod     Reserved: chat-0 leaves its endpoints
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
     7 s  Progressing 1/2 available 1
          TakeOutPod     Reserved: chat-1 leaves its endpoints
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves a
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve a
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
