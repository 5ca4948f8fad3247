     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3
     4 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
--- driver becomes Trainer
     6 s  Complete 4/4 available 3
          RecordRevision ProvenByOnePod: the trainer calls b durable, and a pod has loaded it
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load a
     6 s  Complete 4/4 available 3
          event          RolloutComplete: a trainer drives: 4 of 4 pods hold what it gave them; new pods load b; staging on chat-3
     6 s  Complete 4/4 available 3
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load b
     7 s  Complete 4/4 available 4
--- and Operator again: the rollout goes on
     7 s  Progressing 1/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/4 available 3
    10 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves b
    12 s  Progressing 2/4 available 4
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    12 s  Progressing 2/4 available 3
    15 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    16 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-2 serves b
    17 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
    17 s  Progressing 3/4 available 3
    20 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
    21 s  Complete 4/4 available 3
          PutIn          Swapped: chat-3 serves b
