     0 s  Progressing 0/4 available 4 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3 step 0/2
     4 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/4 available 4 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- abort
    34 s  Paused 1/4 available 4 step 1/2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    34 s  RollingBack 3/4 available 4
          Accepted       abort:chat-806d6133a3@1: b is left for a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 3 of 4 pods serve a
    34 s  RollingBack 3/4 available 3
    37 s  RollingBack 3/4 available 3
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    38 s  RollingBack 4/4 available 3
          PutIn          Swapped: chat-0 serves a
    39 s  RolledBack 4/4 available 4
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
--- the status is lost
    66 s  RolledBack 4/4 available 4
          event          RolloutStarted: version b is desired
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
--- retry
   126 s  RolledBack 4/4 available 4
          RecordRevision Retried: b is tried again, because a person asked
   126 s  Progressing 0/4 available 4 step 0/2
          Accepted       retry:chat-806d6133a3@2: b is tried again from the first step
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          event          ActionAccepted: retry: b is tried again from the first step
   126 s  Progressing 0/4 available 3 step 0/2
   129 s  Progressing 0/4 available 3 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   130 s  Progressing 1/4 available 3 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
   131 s  Paused 1/4 available 4 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
   131 s  Progressing 1/4 available 4 step 2/2
          Accepted       promote:chat-806d6133a3:1@3: step 2 of 2 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 2 is left
   131 s  Progressing 1/4 available 3 step 2/2
   134 s  Progressing 1/4 available 3 step 2/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   135 s  Progressing 2/4 available 3 step 2/2
          PutIn          Swapped: chat-1 serves b
   136 s  Progressing 2/4 available 4 step 2/2
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
   136 s  Progressing 2/4 available 3 step 2/2
   139 s  Progressing 2/4 available 3 step 2/2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   140 s  Progressing 3/4 available 3 step 2/2
          PutIn          Swapped: chat-2 serves b
   141 s  Progressing 3/4 available 4 step 2/2
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
   141 s  Progressing 3/4 available 3 step 2/2
   144 s  Progressing 3/4 available 3 step 2/2
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
   145 s  Progressing 4/4 available 3 step 2/2
          PutIn          Swapped: chat-3 serves b
   146 s  Progressing 4/4 available 4 step 2/2
          RecordRevision AllPodsVerified: all 4 pods serve b
   146 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
