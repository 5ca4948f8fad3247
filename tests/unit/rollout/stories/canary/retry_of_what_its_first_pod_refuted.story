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
     6 s  Progressing 0/3 available 2
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version b: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
     6 s  RollingBack 3/3 available 2
          event          RollbackStarted: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); going back: 3 of 3 pods serve a
     7 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); the fleet serves a: publish a new version
--- the prompt was wrong, and is right now: retry
    34 s  RolledBack 3/3 available 3
          RecordRevision Retried: b is tried again, because a person asked
    34 s  Progressing 0/3 available 3
          Accepted       retry:chat-806d6133a3@1: b is tried again from the first step
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          event          ActionAccepted: retry: b is tried again from the first step
    34 s  Progressing 0/3 available 2
    37 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    38 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    39 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    39 s  Progressing 1/3 available 2
    42 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    43 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
    44 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    44 s  Progressing 2/3 available 2
    47 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    48 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    49 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
    49 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
