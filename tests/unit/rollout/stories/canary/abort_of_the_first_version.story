     0 s  Progressing 0/2 available 2 step 0/2
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/2 available 2 step 0/2
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/2 available 2 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/2 available 2 step 0/2
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/2 available 1 step 0/2
     5 s  Progressing 0/2 available 1 step 0/2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/2 available 1 step 0/2
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Paused 1/2 available 2 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    34 s  Paused 1/2 available 2 step 1/2
          RecordRevision Aborted: a was aborted by a person
          event          RevisionRejected: version a: Aborted: a was aborted by a person
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    34 s  RollingBack 1/2 available 2
          Accepted       abort:chat-3dc1e4ecd2@1: a is left for default
          RestartEngine  BackToBaseline: chat-0 goes back to its base weights
          event          ActionAccepted: abort: a is left for default
          event          RollbackStarted: a was aborted; going back: 1 of 2 pods serve default
          event          EngineRestartAsked: chat-0 goes back to its base weights
    34 s  RollingBack 1/2 available 1
    39 s  RollingBack 2/2 available 1
          PutIn          LabelDiffers: chat-0 serves default
    40 s  RolledBack 2/2 available 2
          event          RolledBack: a was aborted; the fleet serves default: publish a new version, or kubectl weightrollout retry chat
