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
--- one pod more
     1 s  Progressing 2/3 available 2
     2 s  Progressing 2/3 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 2/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     4 s  Progressing 2/3 available 2
          Reserve        NotInService: chat-2 goes to b (not in service)
     6 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
     7 s  Complete 3/3 available 2
          RecordRevision ProvenByOnePod: the trainer calls b durable, and a pod has loaded it
          PutIn          Swapped: chat-2 serves b
     7 s  Complete 3/3 available 2
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load b
          event          RolloutComplete: a trainer drives: 3 of 3 pods hold what it gave them; new pods load b
     8 s  Complete 3/3 available 3
