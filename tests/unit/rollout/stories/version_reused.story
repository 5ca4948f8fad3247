     0 s  Failed 2/2 available 2
          event          RolloutStarted: version a is desired
          event          RolloutFailed: 2 of 2 pods serve a; version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:dddddddd..: give the new content a new version in spec.weights.version
          hold Spec/VersionReused: version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:dddddddd..: give the new content a new version in spec.weights.version
--- the same content under a version of its own
     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          NotStaged: chat-0 reads b sha256:dddddddd..
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:dddddddd..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/2 available 1
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
