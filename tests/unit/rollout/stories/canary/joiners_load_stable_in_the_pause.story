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
     6 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- three pods more
     7 s  Paused 1/6 available 3 step 1/2
          Stage          NotStaged: chat-3 reads a sha256:aaaaaaaa..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
     9 s  Paused 1/6 available 3 step 1/2
          Reserve        NotInService: chat-3 goes to a (not in service)
          Stage          NotStaged: chat-4 reads a sha256:aaaaaaaa..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    11 s  Paused 1/6 available 3 step 1/2
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    11 s  Paused 1/6 available 3 step 1/2
          Reserve        NotInService: chat-4 goes to a (not in service)
          Stage          NotStaged: chat-5 reads a sha256:aaaaaaaa..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    12 s  Paused 1/6 available 3 step 1/2
          PutIn          Swapped: chat-3 serves a
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    13 s  Paused 1/6 available 3 step 1/2
          SwapPod        Settled: chat-4 swaps to a: out of its endpoints and settled
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    13 s  Paused 1/6 available 3 step 1/2
          Reserve        NotInService: chat-5 goes to a (not in service)
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    13 s  Paused 1/6 available 4 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    14 s  Paused 1/6 available 4 step 1/2
          PutIn          Swapped: chat-4 serves a
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    15 s  Paused 1/6 available 4 step 1/2
          SwapPod        Settled: chat-5 swaps to a: out of its endpoints and settled
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    15 s  Paused 1/6 available 4 step 1/2
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    15 s  Paused 1/6 available 5 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    16 s  Paused 1/6 available 5 step 1/2
          PutIn          Swapped: chat-5 serves a
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    17 s  Paused 1/6 available 5 step 1/2
          Stage          NotStaged: chat-5 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    17 s  Paused 1/6 available 6 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
