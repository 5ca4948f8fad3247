     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          event          PodFailed: SourceUnreadable: input/output error
     4 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          event          PodFailed: SourceUnreadable: input/output error
     6 s  Progressing 0/3 available 3
          event          PodFailed: SourceUnreadable: input/output error
          event          Held: SourceUnreadable: staging on chat-0: input/output error
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
     7 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
     9 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    11 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    19 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    21 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    23 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    41 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    43 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    45 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    83 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    85 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
    87 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   145 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   147 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   149 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   207 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   209 s  Progressing 0/3 available 3
          Stage          Scout: chat-1 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   211 s  Progressing 0/3 available 3
          Stage          Scout: chat-2 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
--- the store is back
   269 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
          hold Environment/SourceUnreadable: staging on chat-0: input/output error
   271 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
   271 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
   271 s  Progressing 0/3 available 2
   273 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
   274 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   275 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
   276 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
   276 s  Progressing 1/3 available 2
   279 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   280 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-1 serves b
   281 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
   281 s  Progressing 2/3 available 2
   284 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   285 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
   286 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
   286 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
