     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/2 available 1
     5 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
     7 s  Progressing 1/2 available 1
    10 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    11 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves a
    12 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve a
    12 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
--- version b: before its first swap
    12 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
--- and once it is complete
    12 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
    14 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
    14 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    14 s  Progressing 0/2 available 1
    17 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    18 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    19 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    19 s  Progressing 1/2 available 1
    22 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    23 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    24 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    24 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
--- one pod more, which has never held a
    24 s  Progressing 2/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
    26 s  Progressing 2/3 available 2
          Reserve        NotInService: chat-2 goes to b (not in service)
    28 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    29 s  Complete 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    30 s  Complete 3/3 available 3
--- abort
    58 s  Complete 3/3 available 3
          RecordRevision Aborted: b was aborted by a person
          event          RevisionRejected: version b: Aborted: b was aborted by a person
    58 s  RollingBack 0/3 available 3
          Accepted       abort:chat-806d6133a3@1: b is left for a
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
          event          ActionAccepted: abort: b is left for a
          event          RollbackStarted: b was aborted; going back: 0 of 3 pods serve a
    58 s  RollingBack 0/3 available 2
    61 s  RollingBack 0/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    62 s  RollingBack 1/3 available 2
          PutIn          Swapped: chat-0 serves a
    63 s  RollingBack 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    63 s  RollingBack 1/3 available 2
    66 s  RollingBack 1/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    67 s  RollingBack 2/3 available 2
          PutIn          Swapped: chat-1 serves a
    68 s  RollingBack 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    68 s  RollingBack 2/3 available 2
    71 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    72 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-2 serves a
    73 s  RolledBack 3/3 available 3
          event          RolledBack: b was aborted; the fleet serves a: publish a new version, or kubectl weightrollout retry chat
