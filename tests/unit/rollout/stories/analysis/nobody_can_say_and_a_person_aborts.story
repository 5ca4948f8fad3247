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
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 1 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
  37.5 s  Progressing 1/3 available 3 step 1/2
          Measure        MeasurementDue: question 2 about b
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 1 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
    38 s  Progressing 1/3 available 3 step 1/2
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 2 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
    68 s  Progressing 1/3 available 3 step 1/2
          Measure        MeasurementDue: question 3 about b
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 2 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
  68.5 s  Progressing 1/3 available 3 step 1/2
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 3 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
  98.5 s  Progressing 1/3 available 3 step 1/2
          Measure        MeasurementDue: question 4 about b
          hold Step/AnalysisRunning: step 2 of 2 measures b: 0 of 3 answers, 0 bad, 3 without an answer; newest: NoData; to go on now: kubectl weightrollout promote chat
    99 s  Paused 1/3 available 3 step 1/2
          event          AnalysisInconclusive: step 2: 4 questions without an answer, inconclusiveLimit is 3; newest: NoData
          hold Step/AnalysisInconclusive: step 2 of 2: nobody can say whether b is good (4 questions without an answer, inconclusiveLimit is 3; newest: NoData): kubectl weightrollout promote chat, or kubectl weightrollout abort chat
--- abort
    99 s  Paused 1/3 available 3 step 1/2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
          hold Step/AnalysisInconclusive: step 2 of 2: nobody can say whether b is good (4 questions without an answer, inconclusiveLimit is 3; newest: NoData): kubectl weightrollout promote chat, or kubectl weightrollout abort chat
    99 s  RollingBack 2/3 available 3
          Accepted       abort:chat-806d6133a3@1: b is left for a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 2 of 3 pods serve a
    99 s  RollingBack 2/3 available 2
   102 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
   103 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-0 serves a
   104 s  RolledBack 3/3 available 3
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
