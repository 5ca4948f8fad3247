     0 s  Progressing 0/3 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 2
          Stage          Scout: chat-1 reads b from file:///models/b/
     2 s  Progressing 0/3 available 2
          RecordRevision DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 2
          Reserve        BudgetAllows: chat-1 goes to b (1 of 2 in use)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 1
     5 s  Progressing 0/3 available 1
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
     6 s  Progressing 1/3 available 1
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
     7 s  Progressing 1/3 available 2
          Reserve        BudgetAllows: chat-2 goes to b (1 of 2 in use)
     7 s  Progressing 1/3 available 1
    10 s  Progressing 1/3 available 1
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    11 s  Progressing 2/3 available 1
          PutIn          Swapped: chat-2 serves b
    12 s  Progressing 2/3 available 2
          event          Held: AgentMissing: chat-0 has no container weightrollout-agent: add it to the pod template
          hold Agent/AgentMissing: chat-0 has no container weightrollout-agent: add it to the pod template
