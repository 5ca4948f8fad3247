     0 s  Progressing 0/3 available 3 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2 step 0/2
     4 s  Progressing 0/3 available 2 step 0/2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/3 available 3 step 1/2
          event          StepTimed: step 2 of 2 pauses for 60 seconds since t=7; to go on now: kubectl weightrollout promote chat
          hold Step/StepTimed: step 2 of 2 pauses for 60 seconds since t=7; to go on now: kubectl weightrollout promote chat
    67 s  Progressing 1/3 available 3 step 2/2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    67 s  Progressing 1/3 available 2 step 2/2
    70 s  Progressing 1/3 available 2 step 2/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    71 s  Progressing 2/3 available 2 step 2/2
          PutIn          Swapped: chat-1 serves b
    72 s  Progressing 2/3 available 3 step 2/2
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    72 s  Progressing 2/3 available 2 step 2/2
    75 s  Progressing 2/3 available 2 step 2/2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    76 s  Progressing 3/3 available 2 step 2/2
          PutIn          Swapped: chat-2 serves b
    77 s  Progressing 3/3 available 3 step 2/2
          RecordRevision AllPodsVerified: all 3 pods serve b
    77 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
