     0 s  Complete 4/4 available 4
          event          RolloutStarted: version a is desired
          event          RolloutComplete: all pods serve a
--- driver becomes Trainer
     0 s  Complete 4/4 available 4
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load a
--- its first step, on two of the pods
    60 s  Complete 4/4 available 4
          LabelPod       LabelDiffers: chat-0 serves 1
          LabelPod       LabelDiffers: chat-1 serves 1
--- and Operator again: the two go back to a, one at a time
    60 s  Progressing 2/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load a
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
    60 s  Progressing 2/4 available 3
    63 s  Progressing 2/4 available 3
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
    64 s  Progressing 3/4 available 3
          PutIn          Swapped: chat-0 serves a
    65 s  Progressing 3/4 available 4
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
    65 s  Progressing 3/4 available 3
    68 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    69 s  Complete 4/4 available 3
          PutIn          Swapped: chat-1 serves a
