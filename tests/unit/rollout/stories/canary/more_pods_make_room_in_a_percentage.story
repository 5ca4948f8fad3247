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
--- six pods more: 20 % of nine are two
     7 s  Progressing 1/9 available 3 step 1/2
          Stage          NotStaged: chat-3 reads a sha256:aaaaaaaa..
     9 s  Progressing 1/9 available 3 step 1/2
          Reserve        NotInService: chat-3 goes to a (not in service)
          Stage          NotStaged: chat-4 reads a sha256:aaaaaaaa..
    11 s  Progressing 1/9 available 3 step 1/2
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
    11 s  Progressing 1/9 available 3 step 1/2
          Reserve        NotInService: chat-4 goes to a (not in service)
          Stage          NotStaged: chat-5 reads a sha256:aaaaaaaa..
    12 s  Progressing 1/9 available 3 step 1/2
          PutIn          Swapped: chat-3 serves a
    13 s  Progressing 1/9 available 3 step 1/2
          SwapPod        Settled: chat-4 swaps to a: out of its endpoints and settled
    13 s  Progressing 1/9 available 3 step 1/2
          Reserve        NotInService: chat-5 goes to a (not in service)
          Stage          NotStaged: chat-6 reads a sha256:aaaaaaaa..
    13 s  Progressing 1/9 available 4 step 1/2
    14 s  Progressing 1/9 available 4 step 1/2
          PutIn          Swapped: chat-4 serves a
    15 s  Progressing 1/9 available 4 step 1/2
          SwapPod        Settled: chat-5 swaps to a: out of its endpoints and settled
    15 s  Progressing 1/9 available 4 step 1/2
          Reserve        NotInService: chat-6 goes to a (not in service)
          Stage          NotStaged: chat-7 reads a sha256:aaaaaaaa..
    15 s  Progressing 1/9 available 5 step 1/2
    16 s  Progressing 1/9 available 5 step 1/2
          PutIn          Swapped: chat-5 serves a
    17 s  Progressing 1/9 available 5 step 1/2
          SwapPod        Settled: chat-6 swaps to a: out of its endpoints and settled
    17 s  Progressing 1/9 available 5 step 1/2
          Reserve        NotInService: chat-7 goes to a (not in service)
          Stage          NotStaged: chat-8 reads a sha256:aaaaaaaa..
    17 s  Progressing 1/9 available 6 step 1/2
    18 s  Progressing 1/9 available 6 step 1/2
          PutIn          Swapped: chat-6 serves a
    19 s  Progressing 1/9 available 6 step 1/2
          SwapPod        Settled: chat-7 swaps to a: out of its endpoints and settled
    19 s  Progressing 1/9 available 6 step 1/2
          Reserve        NotInService: chat-8 goes to a (not in service)
          Stage          NotStaged: chat-6 reads b sha256:bbbbbbbb..
    19 s  Progressing 1/9 available 7 step 1/2
    20 s  Progressing 1/9 available 7 step 1/2
          PutIn          Swapped: chat-7 serves a
    21 s  Progressing 1/9 available 7 step 1/2
          SwapPod        Settled: chat-8 swaps to a: out of its endpoints and settled
    21 s  Progressing 1/9 available 7 step 1/2
          Stage          NotStaged: chat-7 reads b sha256:bbbbbbbb..
    21 s  Progressing 1/9 available 8 step 1/2
    22 s  Progressing 1/9 available 8 step 1/2
          PutIn          Swapped: chat-8 serves a
    23 s  Progressing 1/9 available 8 step 1/2
          Stage          NotStaged: chat-8 reads b sha256:bbbbbbbb..
    23 s  Progressing 1/9 available 9 step 1/2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    23 s  Progressing 1/9 available 8 step 1/2
    25 s  Progressing 1/9 available 8 step 1/2
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
    26 s  Progressing 1/9 available 8 step 1/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    27 s  Progressing 1/9 available 8 step 1/2
          Stage          NotStaged: chat-4 reads b sha256:bbbbbbbb..
    27 s  Progressing 2/9 available 8 step 1/2
          PutIn          Swapped: chat-1 serves b
    28 s  Paused 2/9 available 9 step 1/2
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
    29 s  Paused 2/9 available 9 step 1/2
          Stage          NotStaged: chat-5 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
