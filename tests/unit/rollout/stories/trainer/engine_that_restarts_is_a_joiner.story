     0 s  Complete 2/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 7
          LabelPod       LabelDiffers: chat-1 serves 7
          event          RolloutStarted: version b is desired
     0 s  Complete 2/2 available 0
          Stage          Scout: chat-0 reads b from file:///models/b/
     1 s  Complete 2/2 available 1
     1 s  Complete 2/2 available 2
--- the engine of chat-1 restarts
     1 s  Progressing 1/2 available 1
     2 s  Progressing 1/2 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 1/2 available 1
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     4 s  Progressing 1/2 available 1
          Reserve        NotInService: chat-1 goes to b (not in service)
     6 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     7 s  Complete 2/2 available 1
          RecordRevision ProvenByOnePod: the trainer calls b durable, and a pod has loaded it
          PutIn          Swapped: chat-1 serves b
