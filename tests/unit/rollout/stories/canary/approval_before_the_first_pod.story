     0 s  Paused 0/3 available 3 step 0/1
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
          event          StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
     0 s  Paused 0/3 available 3 step 0/1
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Step/StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
     2 s  Paused 0/3 available 3 step 0/1
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          hold Step/StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
     2 s  Paused 0/3 available 3 step 0/1
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
     4 s  Paused 0/3 available 3 step 0/1
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 1 of 1: kubectl weightrollout promote chat
     6 s  Progressing 0/3 available 3 step 1/1
          Accepted       promote:chat-806d6133a3:0@1: step 1 of 1 is left
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 1 of 1 is left
     6 s  Progressing 0/3 available 2 step 1/1
     9 s  Progressing 0/3 available 2 step 1/1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    10 s  Progressing 1/3 available 2 step 1/1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    11 s  Progressing 1/3 available 3 step 1/1
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    11 s  Progressing 1/3 available 2 step 1/1
    14 s  Progressing 1/3 available 2 step 1/1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    15 s  Progressing 2/3 available 2 step 1/1
          PutIn          Swapped: chat-1 serves b
    16 s  Progressing 2/3 available 3 step 1/1
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    16 s  Progressing 2/3 available 2 step 1/1
    19 s  Progressing 2/3 available 2 step 1/1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    20 s  Progressing 3/3 available 2 step 1/1
          PutIn          Swapped: chat-2 serves b
    21 s  Progressing 3/3 available 3 step 1/1
          RecordRevision AllPodsVerified: all 3 pods serve b
    21 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
