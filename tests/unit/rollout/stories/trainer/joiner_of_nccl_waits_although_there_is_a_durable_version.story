     0 s  Pending 1/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 1
          event          RolloutStarted: version b is desired
     0 s  Pending 1/2 available 0
          hold Trainer/WaitingForTrainer: chat-1 holds base weights and stays out of service until its trainer updates it: its engine takes no durable version from the operator (NoTransferBackend: as the story says)
     1 s  Pending 1/2 available 1
          hold Trainer/WaitingForTrainer: chat-1 holds base weights and stays out of service until its trainer updates it: its engine takes no durable version from the operator (NoTransferBackend: as the story says)
    60 s  Complete 2/2 available 1
          LabelPod       LabelDiffers: chat-1 serves 2
          LabelPod       LabelDiffers: chat-0 serves 2
          hold Ready/WaitingForReady: chat-1 serves its version and is not Ready: see its probes
