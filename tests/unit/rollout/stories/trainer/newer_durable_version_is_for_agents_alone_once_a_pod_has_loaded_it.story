     0 s  Progressing 1/2 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 1
          event          RolloutStarted: version b is desired
     0 s  Progressing 1/2 available 0
          Stage          Scout: chat-0 reads b from file:///models/b/
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
     7 s  Complete 2/2 available 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load b
          event          RolloutComplete: a trainer drives: 2 of 2 pods hold what it gave them; new pods load b
     8 s  Complete 2/2 available 2
--- a newer one, while no pod needs it
    36 s  Complete 2/2 available 2
          RecordRevision NewRevision: version c is revision 2
          event          RolloutStarted: version c is desired
    36 s  Complete 2/2 available 2
          Stage          Scout: chat-0 reads c from file:///models/c/
    38 s  Complete 2/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
--- the engine of chat-1 restarts
    96 s  Progressing 1/2 available 1
          Stage          NotStaged: chat-1 reads c sha256:cccccccc..
    98 s  Progressing 1/2 available 1
          Reserve        NotInService: chat-1 goes to c (not in service)
   100 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to c: out of its endpoints and settled
   101 s  Complete 2/2 available 1
          RecordRevision ProvenByOnePod: the trainer calls c durable, and a pod has loaded it
          PutIn          Swapped: chat-1 serves c
   101 s  Complete 2/2 available 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load c
          event          RolloutComplete: a trainer drives: 2 of 2 pods hold what it gave them; new pods load c
   102 s  Complete 2/2 available 2
