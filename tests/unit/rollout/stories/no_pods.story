     0 s  Pending 0/0 available 0
          RecordRevision NewRevision: version a is revision 1
          event          RolloutStarted: version a is desired
     0 s  Pending 0/0 available 0
          hold Pods/NoPods: no pod carries the label weightrollout.dev/name: chat: set it in the pod template
--- a pod arrives
     0 s  Progressing 0/1 available 0
          Stage          Scout: chat-0 reads a from file:///models/a/
     1 s  Progressing 0/1 available 1
     2 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/a/: sha256:aaaaaaaa.. is pinned for all pods
     2 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to a (0 of 1 in use)
     2 s  Progressing 0/1 available 0
     5 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
     6 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves a
          event          Proven: version a is proven on its first pod
     7 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve a
     7 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load a
          event          RolloutComplete: all pods serve a
--- scaled to zero
    34 s  Complete 0/0 available 0
