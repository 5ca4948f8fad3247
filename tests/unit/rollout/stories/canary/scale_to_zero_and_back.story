     0 s  Progressing 0/4 available 4 step 0/4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4 step 0/4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4 step 0/4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4 step 0/4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3 step 0/4
     4 s  Progressing 0/4 available 3 step 0/4
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3 step 0/4
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3 step 0/4
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3 step 0/4
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/4 available 4 step 1/4
          event          StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 4: kubectl weightrollout promote chat
     7 s  Progressing 1/4 available 4 step 2/4
          Accepted       promote:chat-806d6133a3:1@1: step 2 of 4 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
          event          ActionAccepted: promote: step 2 of 4 is left
     7 s  Progressing 1/4 available 3 step 2/4
    10 s  Progressing 1/4 available 3 step 2/4
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/4 available 3 step 2/4
          PutIn          Swapped: chat-1 serves b
    12 s  Paused 2/4 available 4 step 3/4
          event          StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
--- no pods
    39 s  Pending 0/0 available 0 step 3/4
          hold Pods/NoPods: no pod carries the label weightrollout.dev/name: chat: set it in the pod template
--- four pods
    39 s  Progressing 0/4 available 0 step 3/4
          Stage          NotStaged: chat-10 reads b sha256:bbbbbbbb..
    41 s  Progressing 0/4 available 0 step 3/4
          Reserve        NotInService: chat-10 goes to b (not in service)
          Stage          NotStaged: chat-11 reads a sha256:aaaaaaaa..
    43 s  Progressing 0/4 available 0 step 3/4
          SwapPod        Settled: chat-10 swaps to b: out of its endpoints and settled
    43 s  Progressing 0/4 available 0 step 3/4
          Reserve        NotInService: chat-11 goes to a (not in service)
          Stage          NotStaged: chat-12 reads a sha256:aaaaaaaa..
    44 s  Progressing 1/4 available 0 step 3/4
          PutIn          Swapped: chat-10 serves b
    45 s  Progressing 1/4 available 0 step 3/4
          SwapPod        Settled: chat-11 swaps to a: out of its endpoints and settled
    45 s  Progressing 1/4 available 0 step 3/4
          Stage          NotStaged: chat-12 reads b sha256:bbbbbbbb..
    45 s  Progressing 1/4 available 1 step 3/4
    46 s  Progressing 1/4 available 1 step 3/4
          PutIn          Swapped: chat-11 serves a
    47 s  Progressing 1/4 available 1 step 3/4
          Reserve        NotInService: chat-12 goes to b (not in service)
          Stage          NotStaged: chat-13 reads a sha256:aaaaaaaa..
    47 s  Progressing 1/4 available 2 step 3/4
    49 s  Progressing 1/4 available 2 step 3/4
          SwapPod        Settled: chat-12 swaps to b: out of its endpoints and settled
    49 s  Progressing 1/4 available 2 step 3/4
          Reserve        NotInService: chat-13 goes to a (not in service)
          Stage          NotStaged: chat-11 reads b sha256:bbbbbbbb..
    50 s  Progressing 2/4 available 2 step 3/4
          PutIn          Swapped: chat-12 serves b
    51 s  Progressing 2/4 available 2 step 3/4
          SwapPod        Settled: chat-13 swaps to a: out of its endpoints and settled
    51 s  Paused 2/4 available 3 step 3/4
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
    52 s  Paused 2/4 available 3 step 3/4
          PutIn          Swapped: chat-13 serves a
          Stage          NotStaged: chat-13 reads b sha256:bbbbbbbb..
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
    53 s  Paused 2/4 available 4 step 3/4
          hold Step/StepPaused: waiting at step 4 of 4: kubectl weightrollout promote chat
