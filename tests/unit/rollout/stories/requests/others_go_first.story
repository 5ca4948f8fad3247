     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    37 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    37 s  Progressing 0/3 available 2
    40 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    41 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
    42 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    42 s  Progressing 1/3 available 2
    45 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    46 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves b
    47 s  Progressing 2/3 available 3
          hold Traffic/RequestsRunning: chat-0 was put back because its requests ran on (2 running and 1 waiting requests after 30 s), and is tried again later: swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait
    66 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    66 s  Progressing 2/3 available 2
    69 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   101 s  Progressing 2/3 available 3
          hold Traffic/RequestsRunning: chat-0 was put back because its requests ran on (2 running and 1 waiting requests after 30 s), and is tried again later: swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait
   160 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
   160 s  Progressing 2/3 available 2
   163 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   164 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-0 serves b
   165 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
   165 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
