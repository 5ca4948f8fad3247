     0 s  Complete 2/2 available 2
--- driver becomes Trainer
     0 s  Pending 0/2 available 0
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          hold Trainer/WaitingForTrainer: chat-0 holds base weights and stays out of service until its trainer updates it: spec.weights names no durable version
--- and Operator again, with nothing desired: base weights serve
     0 s  Complete 2/2 available 2
