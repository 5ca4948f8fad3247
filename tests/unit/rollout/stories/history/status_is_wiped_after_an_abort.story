     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/3 available 2
    10 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 2/3 available 2
    15 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
    17 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
    17 s  Complete 3/3 available 3
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
    17 s  RollingBack 0/3 available 3
          Accepted       abort:chat-806d6133a3@1: b is left for a
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 0 of 3 pods serve a
    17 s  RollingBack 0/3 available 2
    20 s  RollingBack 0/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    21 s  RollingBack 1/3 available 2
          PutIn          Swapped: chat-0 serves a
    22 s  RollingBack 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    22 s  RollingBack 1/3 available 2
    25 s  RollingBack 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    26 s  RollingBack 2/3 available 2
          PutIn          Swapped: chat-1 serves a
    27 s  RollingBack 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    27 s  RollingBack 2/3 available 2
    30 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    31 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-2 serves a
    32 s  RolledBack 3/3 available 3
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
--- status and memory are lost
    59 s  RolledBack 3/3 available 3
          event          ActionAccepted: abort: b is left for a
          event          RolloutStarted: version b is desired
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
