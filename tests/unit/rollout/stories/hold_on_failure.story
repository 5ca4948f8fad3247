     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3
     4 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 0/4 available 3
          RecordRevision PromptFailed: chat-0: answer 1 does not contain '4'
          event          RevisionRejected: version b: PromptFailed: chat-0: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
     6 s  Failed 0/4 available 3
          event          RolloutFailed: b was rejected (PromptFailed: chat-0: answer 1 does not contain '4'); onFailure is Hold: 0 of 4 pods serve b; publish a new version
          hold Verdict/RevisionRejected: version b was rejected: PromptFailed: chat-0: answer 1 does not contain '4'; onFailure is Hold: publish a new version
     7 s  Failed 0/4 available 4
          hold Verdict/RevisionRejected: version b was rejected: PromptFailed: chat-0: answer 1 does not contain '4'; onFailure is Hold: publish a new version
--- version c is published
    34 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version c is revision 3
          event          RolloutStarted: version c is desired
    34 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads c from file:///models/c/
    36 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
    36 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to c (0 of 1 in use)
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    36 s  Progressing 0/4 available 3
    38 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads c sha256:cccccccc..
    39 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to c: out of its endpoints and settled
    40 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads c sha256:cccccccc..
    40 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves c
          event          Proven: version c is proven on its first pod
    41 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to c (0 of 1 in use)
    41 s  Progressing 1/4 available 3
    44 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
    45 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves c
    46 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to c (0 of 1 in use)
    46 s  Progressing 2/4 available 3
    49 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
    50 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves c
    51 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to c (0 of 1 in use)
    51 s  Progressing 3/4 available 3
    54 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to c: out of its endpoints and settled
    55 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-3 serves c
    56 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve c
    56 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load c
          event          RolloutComplete: all pods serve c
