     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
     7 s  Progressing 1/3 available 2
    10 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    11 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves a
    12 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    12 s  Progressing 2/3 available 2
    15 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    16 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves a
    17 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve a
    17 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
--- abort
    44 s  Complete 3/3 available 3
          RecordRevision Aborted: a was aborted by a person
          event          RevisionRejected: version a: Aborted: a was aborted by a person
    44 s  RollingBack 0/3 available 3
          Accepted       abort:chat-3dc1e4ecd2@1: a is left for default
          PublishStable  StableRejected: new and restarted pods of chat serve their base weights: a was rejected (Aborted)
          RestartEngine  BackToBaseline: chat-0 goes back to its base weights
          event          ActionAccepted: abort: a is left for default
          event          RollbackStarted: a was aborted; going back: 0 of 3 pods serve default
          event          EngineRestartAsked: chat-0 goes back to its base weights
    44 s  RollingBack 0/3 available 2
    49 s  RollingBack 1/3 available 2
          PutIn          LabelDiffers: chat-0 serves default
    50 s  RollingBack 1/3 available 3
          RestartEngine  BackToBaseline: chat-1 goes back to its base weights
          event          EngineRestartAsked: chat-1 goes back to its base weights
    50 s  RollingBack 1/3 available 2
    55 s  RollingBack 2/3 available 2
          PutIn          LabelDiffers: chat-1 serves default
    56 s  RollingBack 2/3 available 3
          RestartEngine  BackToBaseline: chat-2 goes back to its base weights
          event          EngineRestartAsked: chat-2 goes back to its base weights
    56 s  RollingBack 2/3 available 2
    61 s  RollingBack 3/3 available 2
          PutIn          LabelDiffers: chat-2 serves default
    62 s  RolledBack 3/3 available 3
          event          RolledBack: a was aborted; the fleet serves default: publish a new version, or kubectl weightrollout retry chat
--- one pod more: it serves its base weights, and waits for nothing
    62 s  RolledBack 4/4 available 3
          hold Ready/WaitingForReady: chat-3 serves its version and is not Ready: see its probes
    63 s  RolledBack 4/4 available 4
--- version b, which fails
    63 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
    63 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
    65 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
    65 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    65 s  Progressing 0/4 available 3
    67 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
    68 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    69 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
    69 s  Progressing 0/4 available 3
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version b: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
    69 s  RollingBack 3/4 available 3
          event          RollbackStarted: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); going back: 3 of 4 pods serve default; staging on chat-3
   104 s  RollingBack 3/4 available 3
          RestartEngine  Poisoned: chat-0 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
          event          EngineRestartAsked: chat-0 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
   109 s  RollingBack 4/4 available 3
   110 s  RolledBack 4/4 available 4
          event          RolledBack: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves default: publish a new version
