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
     7 s  Progressing 1/4 available 4 step 4/4
          Accepted       promote:chat-806d6133a3:full@1: all steps are left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: all steps are left
     7 s  Progressing 1/4 available 3 step 4/4
    10 s  Progressing 1/4 available 3 step 4/4
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/4 available 3 step 4/4
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/4 available 4 step 4/4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 2/4 available 3 step 4/4
    15 s  Progressing 2/4 available 3 step 4/4
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 3/4 available 3 step 4/4
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 3/4 available 4 step 4/4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    17 s  Progressing 3/4 available 3 step 4/4
    20 s  Progressing 3/4 available 3 step 4/4
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    21 s  Progressing 4/4 available 3 step 4/4
          PutIn          Swapped: chat-3 serves b
    22 s  Progressing 4/4 available 4 step 4/4
          RecordRevision AllPodsVerified: all 4 pods serve b
    22 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
