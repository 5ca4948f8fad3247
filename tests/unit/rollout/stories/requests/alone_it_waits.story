     0 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
     2 s  Progressing 0/1 available 0
     5 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    37 s  Progressing 0/1 available 1
          hold Traffic/RequestsRunning: chat-0 was put back because its requests ran on (2 running and 1 waiting requests after 30 s), and is tried again later: swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait
    66 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    66 s  Progressing 0/1 available 0
    69 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   101 s  Progressing 0/1 available 1
          hold Traffic/RequestsRunning: chat-0 was put back because its requests ran on (2 running and 1 waiting requests after 30 s), and is tried again later: swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait
   160 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
   160 s  Progressing 0/1 available 0
   163 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   195 s  Progressing 0/1 available 1
          hold Traffic/RequestsRunning: chat-0 was put back because its requests ran on (2 running and 1 waiting requests after 30 s), and is tried again later: swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait
--- its requests end
   314 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
   314 s  Progressing 0/1 available 0
   317 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   318 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
   319 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve b
   319 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
