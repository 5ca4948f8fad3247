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
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
--- mode Paused, and one pod more
     6 s  Paused 1/4 available 2
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
     7 s  Paused 1/4 available 3
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
     8 s  Paused 1/4 available 3
          Reserve        NotInService: chat-3 goes to b (not in service)
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
    10 s  Paused 1/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
    11 s  Paused 2/4 available 3
          PutIn          Swapped: chat-3 serves b
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
    12 s  Paused 2/4 available 4
          hold Mode/ModePaused: spec.mode is Paused and no serving pod is touched: set it to Run to go on
--- mode Run
    40 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    40 s  Progressing 2/4 available 3
    43 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    44 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-1 serves b
    45 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    45 s  Progressing 3/4 available 3
    48 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    49 s  Progressing 4/4 available 3
          PutIn          Swapped: chat-2 serves b
    50 s  Progressing 4/4 available 4
          RecordRevision AllPodsVerified: all 4 pods serve b
    50 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
