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
     2 s  Progressing 0/2 available 2
          event          PodFailed: Refused: Reserve: the story says so
     4 s  Progressing 0/2 available 2
          event          Held: Refused: Reserve of chat-0: the story says so
          hold Environment/Refused: Reserve of chat-0: the story says so
     7 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
     7 s  Progressing 0/2 available 2
          hold Environment/Refused: Reserve of chat-0: the story says so
    12 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    12 s  Progressing 0/2 available 2
          hold Environment/Refused: Reserve of chat-0: the story says so
    17 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    17 s  Progressing 0/2 available 2
          hold Environment/Refused: Reserve of chat-0: the story says so
    22 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    22 s  Progressing 0/2 available 2
          hold Environment/Refused: Reserve of chat-0: the story says so
    27 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    27 s  Progressing 0/2 available 2
          hold Environment/Refused: Reserve of chat-0: the story says so
--- it works again
    32 s  Progressing 0/2 available 2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    32 s  Progressing 0/2 available 1
    35 s  Progressing 0/2 available 1
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    36 s  Progressing 1/2 available 1
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
    37 s  Progressing 1/2 available 2
          Reserve        BudgetAllows: chat-1 goes to b (0 of 1 in use)
    37 s  Progressing 1/2 available 1
    40 s  Progressing 1/2 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    41 s  Progressing 2/2 available 1
          PutIn          Swapped: chat-1 serves b
    42 s  Progressing 2/2 available 2
          RecordRevision AllPodsVerified: all 2 pods serve b
    42 s  Complete 2/2 available 2
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
