     0 s  Complete 0/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          event          RolloutStarted: version b is desired
     0 s  Complete 0/2 available 0
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Complete 0/2 available 0
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
    60 s  Complete 2/2 available 0
          LabelPod       LabelDiffers: chat-0 serves 1
          LabelPod       LabelDiffers: chat-1 serves 1
          hold Ready/WaitingForReady: chat-0 serves its version and is not Ready: see its probes
    61 s  Complete 2/2 available 1
          hold Ready/WaitingForReady: chat-1 serves its version and is not Ready: see its probes
    61 s  Complete 2/2 available 2
