     0 s  Pending 0/2 available 0
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          hold Trainer/WaitingForTrainer: chat-0 holds base weights and stays out of service until its trainer updates it: spec.weights names no durable version
--- the trainer's first step
     0 s  Complete 2/2 available 0
          LabelPod       LabelDiffers: chat-0 serves 1
          LabelPod       LabelDiffers: chat-1 serves 1
          hold Ready/WaitingForReady: chat-0 serves its version and is not Ready: see its probes
     1 s  Complete 2/2 available 1
          hold Ready/WaitingForReady: chat-1 serves its version and is not Ready: see its probes
     1 s  Complete 2/2 available 2
--- and its next one: nobody swaps it back
    10 s  Complete 2/2 available 2
          LabelPod       LabelDiffers: chat-0 serves 2
          LabelPod       LabelDiffers: chat-1 serves 2
