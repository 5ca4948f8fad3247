     0 s  Progressing 0/4 available 4 step 0/4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4 step 0/4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4 step 0/4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4 step 0/4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3 step 0/4
     4 s  Progressing 0/4 available 3 step 0/4
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3 step 0/4
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3 step 0/4
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3 step 0/4
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/4 available 4 step 1/4
          event          StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
--- promote
    34 s  Progressing 1/4 available 4 step 2/4
          Accepted       promote:chat-806d6133a3:1@1: step 2 of 4 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 4 is left
    34 s  Progressing 1/4 available 3 step 2/4
    37 s  Progressing 1/4 available 3 step 2/4
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    38 s  Progressing 2/4 available 3 step 2/4
          PutIn          Swapped: chat-1 serves b
    39 s  Paused 2/4 available 4 step 3/4
          event          StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
--- promote
    66 s  Progressing 2/4 available 4 step 4/4
          Accepted       promote:chat-806d6133a3:3@2: step 4 of 4 is left
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 4 of 4 is left
    66 s  Progressing 2/4 available 3 step 4/4
    69 s  Progressing 2/4 available 3 step 4/4
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    70 s  Progressing 3/4 available 3 step 4/4
          PutIn          Swapped: chat-2 serves b
    71 s  Progressing 3/4 available 4 step 4/4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    71 s  Progressing 3/4 available 3 step 4/4
    74 s  Progressing 3/4 available 3 step 4/4
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    75 s  Progressing 4/4 available 3 step 4/4
          PutIn          Swapped: chat-3 serves b
    76 s  Progressing 4/4 available 4 step 4/4
          RecordRevision AllPodsVerified: all 4 pods serve b
    76 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
