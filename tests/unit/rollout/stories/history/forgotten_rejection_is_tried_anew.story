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
     6 s  Progressing 0/2 available 1
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version b: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
     6 s  RollingBack 2/2 available 1
          event          RollbackStarted: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); going back: 2 of 2 pods serve a
     7 s  RolledBack 2/2 available 2
          event          RolledBack: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves a: publish a new version
--- version c
    34 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
    34 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads c from file:///models/c/
    36 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    36 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    36 s  Progressing 0/2 available 1
    39 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    40 s  Progressing 0/2 available 1
          PruneRevision  HistoryFull: version b is in use nowhere (revisionHistoryLimit 0)
    40 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves c
          event          Proven: version c is proven on its first pod
    41 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
    41 s  Progressing 1/2 available 1
    44 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
    45 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves c
    46 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve c
    46 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load c
          event          RolloutComplete: all pods serve c
--- the files were mended meanwhile: b again
    73 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 4
          event          RolloutStarted: version b is desired
    73 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
    75 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
    75 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    75 s  Progressing 0/2 available 1
    78 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    79 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    80 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    80 s  Progressing 1/2 available 1
    83 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    84 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    85 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    85 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          PruneRevision  HistoryFull: version a is in use nowhere (revisionHistoryLimit 0)
          event          RolloutComplete: all pods serve b
