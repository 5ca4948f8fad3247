     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/2 available 1
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
--- version c, which fails
    39 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
    39 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads c from file:///models/c/
    41 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    41 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    41 s  Progressing 0/2 available 1
    44 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    45 s  Progressing 0/2 available 1
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version c: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
    45 s  RollingBack 2/2 available 1
          event          RollbackStarted: c was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); going back: 2 of 2 pods serve b
    46 s  RolledBack 2/2 available 2
          event          RolledBack: c was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves b: publish a new version
--- b again, and every engine restarts
    73 s  Progressing 2/2 available 2
          RecordRevision NewRevision: version b comes back as revision 4
          event          RolloutStarted: version b is desired
    73 s  Complete 2/2 available 2
    73 s  Progressing 0/2 available 0
          Reserve        NotInService: chat-0 goes to b (not in service)
          Reserve        NotInService: chat-1 goes to b (not in service)
    76 s  Progressing 0/2 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    77 s  Progressing 0/2 available 0
          PruneRevision  HistoryFull: version c is in use nowhere (revisionHistoryLimit 0)
    77 s  Progressing 1/2 available 0
          PutIn          Swapped: chat-0 serves b
    77 s  Complete 2/2 available 0
          PutIn          Swapped: chat-1 serves b
    78 s  Complete 2/2 available 1
    78 s  Complete 2/2 available 2
--- abort
   105 s  Complete 2/2 available 2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
   105 s  RollingBack 0/2 available 2
          Accepted       abort:chat-806d6133a3@1: b is left for a
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 0 of 2 pods serve a
   105 s  RollingBack 0/2 available 1
   108 s  RollingBack 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
   109 s  RollingBack 1/2 available 1
          PutIn          Swapped: chat-0 serves a
   110 s  RollingBack 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
   110 s  RollingBack 1/2 available 1
   113 s  RollingBack 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
   114 s  RollingBack 2/2 available 1
          PutIn          Swapped: chat-1 serves a
   115 s  RolledBack 2/2 available 2
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
