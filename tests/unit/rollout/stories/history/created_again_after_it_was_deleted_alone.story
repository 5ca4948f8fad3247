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
    12 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
    12 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads c from file:///models/c/
    14 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    14 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    14 s  Progressing 0/2 available 1
    17 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    18 s  Progressing 0/2 available 1
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version c: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
    18 s  RollingBack 2/2 available 1
          event          RollbackStarted: c was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); going back: 2 of 2 pods serve b
    19 s  RolledBack 2/2 available 2
          event          RolledBack: c was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves b: publish a new version
--- deleted with --cascade=orphan, and created again with c
    46 s  RolledBack 2/2 available 2
          AdoptRevision  Orphaned: version c was left behind by a WeightRollout of this name
          AdoptRevision  Orphaned: version b was left behind by a WeightRollout of this name
          AdoptRevision  Orphaned: version a was left behind by a WeightRollout of this name
          event          RolloutStarted: version c is desired
          event          RolledBack: c was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves b: publish a new version
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
--- b in the spec, and abort: a is known as well
    46 s  Progressing 2/2 available 2
          RecordRevision NewRevision: version b comes back as revision 4
          event          RolloutStarted: version b is desired
    46 s  Complete 2/2 available 2
    46 s  Complete 2/2 available 2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
    46 s  RollingBack 0/2 available 2
          Accepted       abort:chat-806d6133a3@1: b is left for a
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 0 of 2 pods serve a
    46 s  RollingBack 0/2 available 1
    49 s  RollingBack 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    50 s  RollingBack 1/2 available 1
          PutIn          Swapped: chat-0 serves a
    51 s  RollingBack 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    51 s  RollingBack 1/2 available 1
    54 s  RollingBack 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    55 s  RollingBack 2/2 available 1
          PutIn          Swapped: chat-1 serves a
    56 s  RolledBack 2/2 available 2
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
