     0 s  Progressing 0/1 available 1 step 0/4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/1 available 1 step 0/4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/1 available 1 step 0/4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/1 available 1 step 0/4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
     2 s  Progressing 0/1 available 0 step 0/4
     5 s  Progressing 0/1 available 0 step 0/4
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/1 available 0 step 0/4
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/1 available 1 step 1/4
          event          StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
    34 s  Paused 1/1 available 1 step 3/4
          Accepted       promote:chat-806d6133a3:1@1: step 2 of 4 is left
          event          ActionAccepted: promote: step 2 of 4 is left
          event          StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
    34 s  Progressing 1/1 available 1 step 4/4
          Accepted       promote:chat-806d6133a3:3@2: step 4 of 4 is left
          RecordRevision AllPodsVerified: all 1 pods serve b
          event          ActionAccepted: promote: step 4 of 4 is left
    34 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
