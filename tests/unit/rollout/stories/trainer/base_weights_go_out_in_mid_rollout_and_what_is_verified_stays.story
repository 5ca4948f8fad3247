     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads a from file:///models/a/
     2 s  Progressing 0/4 available 4
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/4 available 4
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
          Stage          NotStaged: chat-1 reads a sha256:aaaaaaaa..
     2 s  Progressing 0/4 available 3
     4 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
     5 s  Progressing 0/4 available 3
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 0/4 available 3
          Stage          NotStaged: chat-3 reads a sha256:aaaaaaaa..
     6 s  Progressing 1/4 available 3
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/4 available 4
          Reserve        BudgetAllows: chat-1 goes to a (0 of 1 in use)
     7 s  Progressing 1/4 available 3
    10 s  Progressing 1/4 available 3
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    11 s  Progressing 2/4 available 3
          PutIn          Swapped: chat-1 serves a
--- driver becomes Trainer
    11 s  Progressing 2/4 available 1
          RecordRevision ProvenByOnePod: the trainer calls a durable, and a pod has loaded it
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          Reserve        NotInService: chat-2 goes to a (not in service)
          Reserve        NotInService: chat-3 goes to a (not in service)
    11 s  Progressing 2/4 available 1
          event          RolloutComplete: a trainer drives: 2 of 4 pods hold what it gave them; out of service, because base weights never serve where a trainer drives: chat-2, chat-3; new pods load a; swapping chat-2, chat-3
    11 s  Progressing 2/4 available 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load a
    12 s  Progressing 2/4 available 2
    14 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
    15 s  Progressing 3/4 available 2
          PutIn          Swapped: chat-2 serves a
    15 s  Complete 4/4 available 2
          PutIn          Swapped: chat-3 serves a
    16 s  Complete 4/4 available 3
    16 s  Complete 4/4 available 4
