     0 s  Progressing 0/2 available 2 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1 step 0/2
     5 s  Progressing 0/2 available 1 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/2 available 1 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/2 available 2 step 0/2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/2 available 1 step 0/2
    10 s  Progressing 1/2 available 1 step 0/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/2 available 1 step 0/2
          PutIn          Swapped: chat-1 serves b
    12 s  Paused 2/2 available 2 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    39 s  Progressing 2/2 available 2 step 2/2
          Accepted       promote:chat-806d6133a3@1: step 2 of 2 is left
          RecordRevision AllPodsVerified: all 2 pods serve b
          event          ActionAccepted: promote: step 2 of 2 is left
    39 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
