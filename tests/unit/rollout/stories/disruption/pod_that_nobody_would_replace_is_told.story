     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
     7 s  Progressing 1/3 available 2
    10 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    11 s  Progressing 1/3 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
    71 s  Progressing 1/3 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
   131 s  Progressing 1/3 available 2
          event          Held: NoController: chat-1 is beyond repair (its engine was asked 2 times to restart and did not (repair.retries 1)), and nobody would make another one: replace it
          hold Repair/NoController: chat-1 is beyond repair (its engine was asked 2 times to restart and did not (repair.retries 1)), and nobody would make another one: replace it
