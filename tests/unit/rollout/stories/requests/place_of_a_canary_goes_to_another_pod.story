     0 s  Progressing 0/3 available 3 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2 step 0/2
     4 s  Progressing 0/3 available 2 step 0/2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    37 s  Progressing 0/3 available 3 step 0/2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    37 s  Progressing 0/3 available 2 step 0/2
    40 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    41 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
    42 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
