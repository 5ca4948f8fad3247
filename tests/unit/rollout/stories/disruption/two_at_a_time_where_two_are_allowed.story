     0 s  Progressing 0/5 available 5
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/5 available 5
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/5 available 5
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/5 available 5
          Reserve        BudgetAllows: chat-0 goes to b (0 of 5 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/5 available 4
     4 s  Progressing 0/5 available 4
          Reserve        BudgetAllows: chat-1 goes to b (1 of 5 in use)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/5 available 3
     5 s  Progressing 0/5 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/5 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/5 available 3
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/5 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     7 s  Progressing 1/5 available 4
  7.25 s  Progressing 1/5 available 4
          Reserve        BudgetAllows: chat-2 goes to b (1 of 5 in use)
  7.25 s  Progressing 1/5 available 3
     8 s  Progressing 1/5 available 3
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
     8 s  Progressing 2/5 available 3
          PutIn          Swapped: chat-1 serves b
     9 s  Progressing 2/5 available 4
  9.25 s  Progressing 2/5 available 4
          Reserve        BudgetAllows: chat-3 goes to b (1 of 5 in use)
  9.25 s  Progressing 2/5 available 3
 10.25 s  Progressing 2/5 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
 11.25 s  Progressing 3/5 available 3
          PutIn          Swapped: chat-2 serves b
 12.25 s  Progressing 3/5 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
 12.25 s  Progressing 3/5 available 4
  12.5 s  Progressing 3/5 available 4
          Reserve        BudgetAllows: chat-4 goes to b (1 of 5 in use)
  12.5 s  Progressing 3/5 available 3
 13.25 s  Progressing 4/5 available 3
          PutIn          Swapped: chat-3 serves b
 14.25 s  Progressing 4/5 available 4
  15.5 s  Progressing 4/5 available 4
          SwapPod        Settled: chat-4 swaps to b: out of its endpoints and settled
  16.5 s  Progressing 5/5 available 4
          PutIn          Swapped: chat-4 serves b
  17.5 s  Progressing 5/5 available 5
          RecordRevision AllPodsVerified: all 5 pods serve b
  17.5 s  Complete 5/5 available 5
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
