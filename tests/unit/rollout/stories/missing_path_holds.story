     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          Stage          Scout: chat-1 reads b from file:///models/b/
          event          PodFailed: SourceNotFound: file:///models/b/ does not exist
     4 s  Progressing 0/2 available 2
          event          PodFailed: SourceNotFound: file:///models/b/ does not exist
          event          Held: SourceNotFound: staging on chat-0: file:///models/b/ does not exist
          hold Environment/SourceNotFound: staging on chat-0: file:///models/b/ does not exist
--- the files arrive
     7 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceNotFound: staging on chat-0: file:///models/b/ does not exist
     9 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     9 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     9 s  Progressing 0/2 available 1
    12 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    13 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    14 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    14 s  Progressing 1/2 available 1
    17 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    18 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    19 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    19 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
