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
          RecordRevision AnalysisFailed: step 2 of 2: 1 of 1 answers bad, failureLimit is 0; newest: 0.5 (max 0.01)
          event          RevisionRejected: version b: AnalysisFailed: step 2 of 2: 1 of 1 answers bad, failureLimit is 0; newest: 0.5 (max 0.01)
   7.5 s  Failed 1/3 available 3
          event          RolloutFailed: b was rejected (AnalysisFailed: step 2 of 2: 1 of 1 answers bad, failureLimit is 0; newest: 0.5 (max 0.01)); onFailure is Hold: 1 of 3 pods serve b; publish a new version
          hold Verdict/RevisionRejected: version b was rejected: AnalysisFailed: step 2 of 2: 1 of 1 answers bad, failureLimit is 0; newest: 0.5 (max 0.01); onFailure is Hold: publish a new version
