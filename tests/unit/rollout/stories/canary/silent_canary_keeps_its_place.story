     0 s  Progressing 0/4 available 4 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4 step 0/2
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4 step 0/2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/4 available 4 step 0/2
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/4 available 3 step 0/2
     4 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/4 available 3 step 0/2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/4 available 3 step 0/2
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 1/4 available 3 step 0/2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
     7 s  Paused 1/4 available 4 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
--- nobody reaches the agent of the canary, and a new leader begins
    34 s  Progressing 0/4 available 3 step 1/2
          event          Held: AgentUnreachable: the agent of chat-0 does not answer; it counts as out until it does
          hold Agent/AgentUnreachable: the agent of chat-0 does not answer; it counts as out until it does
--- it answers again
   934 s  Paused 1/4 available 4 step 1/2
          event          Proven: version b is proven on its first pod
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
   934 s  Progressing 1/4 available 4 step 2/2
          Accepted       promote:chat-806d6133a3:1@1: step 2 of 2 is left
          Reserve        BudgetAllows: chat-1 goes to b (0 of 2 in use)
          Reserve        BudgetAllows: chat-2 goes to b (1 of 2 in use)
          event          ActionAccepted: promote: step 2 of 2 is left
   934 s  Progressing 1/4 available 2 step 2/2
   937 s  Progressing 1/4 available 2 step 2/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
   938 s  Progressing 2/4 available 2 step 2/2
          PutIn          Swapped: chat-1 serves b
   938 s  Progressing 3/4 available 2 step 2/2
          PutIn          Swapped: chat-2 serves b
   939 s  Progressing 3/4 available 3 step 2/2
          Reserve        BudgetAllows: chat-3 goes to b (1 of 2 in use)
   942 s  Progressing 3/4 available 3 step 2/2
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
   943 s  Progressing 4/4 available 3 step 2/2
          PutIn          Swapped: chat-3 serves b
   944 s  Progressing 4/4 available 4 step 2/2
          RecordRevision AllPodsVerified: all 4 pods serve b
   944 s  Complete 4/4 available 4
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
