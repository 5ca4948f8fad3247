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
    39 s  Complete 2/2 available 2
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
    39 s  RollingBack 0/2 available 2
          Accepted       abort:chat-806d6133a3@1: b is left for a
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 0 of 2 pods serve a
    39 s  RollingBack 0/2 available 1
    42 s  RollingBack 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    43 s  RollingBack 1/2 available 1
          PutIn          Swapped: chat-0 serves a
    44 s  RollingBack 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    44 s  RollingBack 1/2 available 1
    47 s  RollingBack 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    48 s  RollingBack 2/2 available 1
          PutIn          Swapped: chat-1 serves a
    49 s  RolledBack 2/2 available 2
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
--- version a in the spec
    49 s  Progressing 2/2 available 2
          RecordRevision NewRevision: version a comes back as revision 3
          event          RolloutStarted: version a is desired
    49 s  Complete 2/2 available 2
--- version b in the spec
    76 s  RolledBack 2/2 available 2
          event          RolloutStarted: version b is desired
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
--- retry
    76 s  RolledBack 2/2 available 2
          RecordRevision Retried: b is tried again, because a person asked
    76 s  Progressing 0/2 available 2
          Accepted       retry:chat-806d6133a3@2: b is tried again from the first step
          RecordRevision NewRevision: version b is revision 4
          event          ActionAccepted: retry: b is tried again from the first step
    76 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    76 s  Progressing 0/2 available 1
    79 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    80 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    81 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    81 s  Progressing 1/2 available 1
    84 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    85 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    86 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    86 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
