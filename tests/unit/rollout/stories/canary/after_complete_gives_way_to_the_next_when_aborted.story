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
     7 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- version c is published
--- abort of what is queued, then of what runs
    67 s  Paused 1/3 available 3 step 1/2
          Stale          abort:chat-1b042ba447@1: c has not begun (strategy.supersede AfterComplete): what runs is b, revision chat-806d6133a3
          event          ActionStale: abort: c has not begun (strategy.supersede AfterComplete): what runs is b, revision chat-806d6133a3
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    67 s  Paused 1/3 available 3 step 1/2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    67 s  Progressing 0/3 available 3 step 0/2
          Stale          abort:chat-806d6133a3@2: revision chat-1b042ba447 is worked on, not chat-806d6133a3
          RecordRevision NewRevision: version c is revision 3
          event          ActionStale: abort: revision chat-1b042ba447 is worked on, not chat-806d6133a3
    67 s  Progressing 0/3 available 3 step 0/2
          Stage          Scout: chat-1 reads c from file:///models/c/
    69 s  Progressing 0/3 available 3 step 0/2
          RecordRevision DigestPinned: chat-1 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-1 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    69 s  Progressing 0/3 available 3 step 0/2
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-2 reads c sha256:cccccccc..
    69 s  Progressing 0/3 available 2 step 0/2
    71 s  Progressing 0/3 available 2 step 0/2
          Stage          NotStaged: chat-0 reads c sha256:cccccccc..
    72 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
    73 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-1 serves c
          event          Proven: version c is proven on its first pod
    74 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
