     0 s  Progressing 0/7 available 7 step 0/4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/7 available 7 step 0/4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/7 available 7 step 0/4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/7 available 7 step 0/4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/7 available 6 step 0/4
     4 s  Progressing 0/7 available 6 step 0/4
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/7 available 6 step 0/4
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/7 available 6 step 0/4
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/7 available 6 step 0/4
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/7 available 7 step 1/4
          event          StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
     8 s  Paused 1/7 available 7 step 1/4
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
    10 s  Paused 1/7 available 7 step 1/4
          Stage          NotStaged: chat-5 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
    12 s  Paused 1/7 available 7 step 1/4
          Stage          NotStaged: chat-6 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
    34 s  Progressing 1/7 available 7 step 2/4
          Accepted       promote:chat-806d6133a3:1@1: step 2 of 4 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 4 is left
    34 s  Progressing 1/7 available 6 step 2/4
    37 s  Progressing 1/7 available 6 step 2/4
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    38 s  Progressing 2/7 available 6 step 2/4
          PutIn          Swapped: chat-1 serves b
    39 s  Progressing 2/7 available 7 step 2/4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    39 s  Progressing 2/7 available 6 step 2/4
    42 s  Progressing 2/7 available 6 step 2/4
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    43 s  Progressing 3/7 available 6 step 2/4
          PutIn          Swapped: chat-2 serves b
    44 s  Progressing 3/7 available 7 step 2/4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    44 s  Progressing 3/7 available 6 step 2/4
    47 s  Progressing 3/7 available 6 step 2/4
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    48 s  Progressing 4/7 available 6 step 2/4
          PutIn          Swapped: chat-3 serves b
    49 s  Paused 4/7 available 7 step 3/4
          event          StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
    76 s  Progressing 4/7 available 7 step 4/4
          Accepted       promote:chat-806d6133a3:3@2: step 4 of 4 is left
          Reserve        BudgetAllows: chat-4 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 4 of 4 is left
    76 s  Progressing 4/7 available 6 step 4/4
    79 s  Progressing 4/7 available 6 step 4/4
          SwapPod        Settled: chat-4 swaps to b: out of its endpoints and settled
    80 s  Progressing 5/7 available 6 step 4/4
          PutIn          Swapped: chat-4 serves b
    81 s  Progressing 5/7 available 7 step 4/4
          Reserve        BudgetAllows: chat-5 goes to b (0 of 1 in use)
    81 s  Progressing 5/7 available 6 step 4/4
    84 s  Progressing 5/7 available 6 step 4/4
          SwapPod        Settled: chat-5 swaps to b: out of its endpoints and settled
    85 s  Progressing 6/7 available 6 step 4/4
          PutIn          Swapped: chat-5 serves b
    86 s  Progressing 6/7 available 7 step 4/4
          Reserve        BudgetAllows: chat-6 goes to b (0 of 1 in use)
    86 s  Progressing 6/7 available 6 step 4/4
    89 s  Progressing 6/7 available 6 step 4/4
          SwapPod        Settled: chat-6 swaps to b: out of its endpoints and settled
    90 s  Progressing 7/7 available 6 step 4/4
          PutIn          Swapped: chat-6 serves b
    91 s  Progressing 7/7 available 7 step 4/4
          RecordRevision AllPodsVerified: all 7 pods serve b
    91 s  Complete 7/7 available 7
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
