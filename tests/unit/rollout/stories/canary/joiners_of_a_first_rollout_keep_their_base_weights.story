     0 s  Progressing 0/3 available 3 step 0/2
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/3 available 3 step 0/2
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/3 available 3 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/3 available 3 step 0/2
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/3 available 2 step 0/2
     4 s  Progressing 0/3 available 2 step 0/2
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
     5 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- two pods more
     7 s  Paused 1/5 available 3 step 1/2
          Stage          NotStaged: chat-3 reads a sha256:aaaaaaaa..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
     8 s  Paused 1/5 available 4 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
     8 s  Paused 1/5 available 5 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
     9 s  Paused 1/5 available 5 step 1/2
          Stage          NotStaged: chat-4 reads a sha256:aaaaaaaa..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    34 s  Progressing 1/5 available 5 step 2/2
          Accepted       promote:chat-3dc1e4ecd2@1: step 2 of 2 is left
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 2 is left
    34 s  Progressing 1/5 available 4 step 2/2
    37 s  Progressing 1/5 available 4 step 2/2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    38 s  Progressing 2/5 available 4 step 2/2
          PutIn          Swapped: chat-1 serves a
    39 s  Progressing 2/5 available 5 step 2/2
          Reserve        BudgetAllows: chat-2 goes to a (0 of 1 in use)
    39 s  Progressing 2/5 available 4 step 2/2
    42 s  Progressing 2/5 available 4 step 2/2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
    43 s  Progressing 3/5 available 4 step 2/2
          PutIn          Swapped: chat-2 serves a
    44 s  Progressing 3/5 available 5 step 2/2
          Reserve        BudgetAllows: chat-3 goes to a (0 of 1 in use)
    44 s  Progressing 3/5 available 4 step 2/2
    47 s  Progressing 3/5 available 4 step 2/2
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
    48 s  Progressing 4/5 available 4 step 2/2
          PutIn          Swapped: chat-3 serves a
    49 s  Progressing 4/5 available 5 step 2/2
          Reserve        BudgetAllows: chat-4 goes to a (0 of 1 in use)
    49 s  Progressing 4/5 available 4 step 2/2
    52 s  Progressing 4/5 available 4 step 2/2
          SwapPod        Settled: chat-4 swaps to a: out of its endpoints and settled
    53 s  Progressing 5/5 available 4 step 2/2
          PutIn          Swapped: chat-4 serves a
    54 s  Progressing 5/5 available 5 step 2/2
          RecordRevision AllPodsVerified: all 5 pods serve a
    54 s  Complete 5/5 available 5
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
