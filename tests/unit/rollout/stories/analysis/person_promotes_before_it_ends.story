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
          Measure        MeasurementDue: question 1 about b
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad; to go on now: kubectl weightrollout promote chat
   7.5 s  Progressing 1/3 available 3 step 1/2
          hold Step/AnalysisRunning: step 2 of 2 measures b: 1 of 3 answers, 0 bad; newest: 0.004 (max 0.01); to go on now: kubectl weightrollout promote chat
--- promote
   7.5 s  Progressing 1/3 available 3 step 2/2
          Accepted       promote:chat-806d6133a3@1: step 2 of 2 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 2 is left
   7.5 s  Progressing 1/3 available 2 step 2/2
  10.5 s  Progressing 1/3 available 2 step 2/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
  11.5 s  Progressing 2/3 available 2 step 2/2
          PutIn          Swapped: chat-1 serves b
  12.5 s  Progressing 2/3 available 3 step 2/2
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
  12.5 s  Progressing 2/3 available 2 step 2/2
  15.5 s  Progressing 2/3 available 2 step 2/2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
  16.5 s  Progressing 3/3 available 2 step 2/2
          PutIn          Swapped: chat-2 serves b
  17.5 s  Progressing 3/3 available 3 step 2/2
          RecordRevision AllPodsVerified: all 3 pods serve b
  17.5 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
