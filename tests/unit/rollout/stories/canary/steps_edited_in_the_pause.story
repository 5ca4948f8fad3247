     0 s  Progressing 0/4 available 4 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3 step 0/2
     4 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/4 available 4 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- other steps; then comes a promote that was meant for the old ones
    34 s  Progressing 1/4 available 4 step 0/2
          Stale          promote:chat-806d6133a3:1@1: the steps are others now: see where it is and promote again
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionStale: promote: the steps are others now: see where it is and promote again
    34 s  Progressing 1/4 available 3 step 0/2
    37 s  Progressing 1/4 available 3 step 0/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    38 s  Progressing 2/4 available 3 step 0/2
          PutIn          Swapped: chat-1 serves b
    39 s  Paused 2/4 available 4 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
