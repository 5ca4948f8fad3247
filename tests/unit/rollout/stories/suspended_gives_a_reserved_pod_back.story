     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/2 available 1
--- mode Suspended
     2 s  Suspended 0/2 available 1
          Release        NoLongerWanted: chat-0 is given back: spec.mode is Suspended
          hold Mode/ModeSuspended: spec.mode is Suspended and nothing starts: set it to Run to go on
     2 s  Suspended 0/2 available 2
          hold Mode/ModeSuspended: spec.mode is Suspended and nothing starts: set it to Run to go on
