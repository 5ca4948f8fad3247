     0 s  Complete 2/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 1
          LabelPod       LabelDiffers: chat-1 serves 1
          event          RolloutStarted: version b is desired
     0 s  Complete 2/2 available 0
          Stage          Scout: chat-0 reads b from file:///models/b/
     1 s  Complete 2/2 available 1
     1 s  Complete 2/2 available 2
--- the trainer is in mid-update on both, and driver becomes Operator
     1 s  Progressing 0/2 available 0
          PublishStable  OperatorDrives: new and restarted pods of chat serve their base weights (spec.driver)
     2 s  Progressing 0/2 available 0
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 0
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     4 s  Progressing 0/2 available 0
          hold Trainer/HeldByTrainer: chat-0: a trainer holds the engine: an update of its target weights is open; the operator goes on when it has finished and resumed. Where it never will, restart that engine
--- it finishes and resumes
    61 s  Progressing 0/2 available 0
          Reserve        NotInService: chat-0 goes to b (not in service)
          LabelPod       LabelDiffers: chat-0 serves 2
          LabelPod       LabelDiffers: chat-1 serves 2
    62 s  Progressing 0/2 available 1
    63 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    64 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    65 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    65 s  Progressing 1/2 available 1
    68 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    69 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    70 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    70 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
