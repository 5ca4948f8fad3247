     0 s  Suspended 1/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 1
          event          RolloutStarted: version b is desired
     0 s  Suspended 1/2 available 0
          hold Mode/ModeSuspended: spec.mode is Suspended and nothing starts: set it to Run to go on
     1 s  Suspended 1/2 available 1
          hold Mode/ModeSuspended: spec.mode is Suspended and nothing starts: set it to Run to go on
