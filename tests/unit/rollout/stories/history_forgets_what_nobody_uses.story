--- version v01 is published
     0 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v01 is revision 1
          event          RolloutStarted: version v01 is desired
     0 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v01 from file:///models/v01/
     2 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v01/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v01/: sha256:00000000.. is pinned for all pods
     2 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v01 (0 of 1 in use)
     2 s  Progressing 0/1 available 0
     5 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v01: out of its endpoints and settled
     6 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v01
          event          Proven: version v01 is proven on its first pod
     7 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v01
     7 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v01
          event          RolloutComplete: all pods serve v01
--- version v02 is published
    34 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v02 is revision 2
          event          RolloutStarted: version v02 is desired
    34 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v02 from file:///models/v02/
    36 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v02/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v02/: sha256:00000000.. is pinned for all pods
    36 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v02 (0 of 1 in use)
    36 s  Progressing 0/1 available 0
    39 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v02: out of its endpoints and settled
    40 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v02
          event          Proven: version v02 is proven on its first pod
    41 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v02
    41 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v02
          event          RolloutComplete: all pods serve v02
--- version v03 is published
    68 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v03 is revision 3
          event          RolloutStarted: version v03 is desired
    68 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v03 from file:///models/v03/
    70 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v03/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v03/: sha256:00000000.. is pinned for all pods
    70 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v03 (0 of 1 in use)
    70 s  Progressing 0/1 available 0
    73 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v03: out of its endpoints and settled
    74 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v03
          event          Proven: version v03 is proven on its first pod
    75 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v03
    75 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v03
          event          RolloutComplete: all pods serve v03
--- version v04 is published
   102 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v04 is revision 4
          event          RolloutStarted: version v04 is desired
   102 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v04 from file:///models/v04/
   104 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v04/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v04/: sha256:00000000.. is pinned for all pods
   104 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v04 (0 of 1 in use)
   104 s  Progressing 0/1 available 0
   107 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v04: out of its endpoints and settled
   108 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v04
          event          Proven: version v04 is proven on its first pod
   109 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v04
   109 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v04
          event          RolloutComplete: all pods serve v04
--- version v05 is published
   136 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v05 is revision 5
          event          RolloutStarted: version v05 is desired
   136 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v05 from file:///models/v05/
   138 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v05/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v05/: sha256:00000000.. is pinned for all pods
   138 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v05 (0 of 1 in use)
   138 s  Progressing 0/1 available 0
   141 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v05: out of its endpoints and settled
   142 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v05
          event          Proven: version v05 is proven on its first pod
   143 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v05
   143 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v05
          event          RolloutComplete: all pods serve v05
--- version v06 is published
   170 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v06 is revision 6
          event          RolloutStarted: version v06 is desired
   170 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v06 from file:///models/v06/
   172 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v06/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v06/: sha256:00000000.. is pinned for all pods
   172 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v06 (0 of 1 in use)
   172 s  Progressing 0/1 available 0
   175 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v06: out of its endpoints and settled
   176 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v06
          event          Proven: version v06 is proven on its first pod
   177 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v06
   177 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v06
          event          RolloutComplete: all pods serve v06
--- version v07 is published
   204 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v07 is revision 7
          event          RolloutStarted: version v07 is desired
   204 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v07 from file:///models/v07/
   206 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v07/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v07/: sha256:00000000.. is pinned for all pods
   206 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v07 (0 of 1 in use)
   206 s  Progressing 0/1 available 0
   209 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v07: out of its endpoints and settled
   210 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v07
          event          Proven: version v07 is proven on its first pod
   211 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v07
   211 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v07
          event          RolloutComplete: all pods serve v07
--- version v08 is published
   238 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v08 is revision 8
          event          RolloutStarted: version v08 is desired
   238 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v08 from file:///models/v08/
   240 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v08/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v08/: sha256:00000000.. is pinned for all pods
   240 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v08 (0 of 1 in use)
   240 s  Progressing 0/1 available 0
   243 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v08: out of its endpoints and settled
   244 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v08
          event          Proven: version v08 is proven on its first pod
   245 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v08
   245 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v08
          event          RolloutComplete: all pods serve v08
--- version v09 is published
   272 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v09 is revision 9
          event          RolloutStarted: version v09 is desired
   272 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v09 from file:///models/v09/
   274 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v09/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v09/: sha256:00000000.. is pinned for all pods
   274 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v09 (0 of 1 in use)
   274 s  Progressing 0/1 available 0
   277 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v09: out of its endpoints and settled
   278 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v09
          event          Proven: version v09 is proven on its first pod
   279 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v09
   279 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v09
          event          RolloutComplete: all pods serve v09
--- version v10 is published
   306 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v10 is revision 10
          event          RolloutStarted: version v10 is desired
   306 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v10 from file:///models/v10/
   308 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v10/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v10/: sha256:00000000.. is pinned for all pods
   308 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v10 (0 of 1 in use)
   308 s  Progressing 0/1 available 0
   311 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v10: out of its endpoints and settled
   312 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v10
          event          Proven: version v10 is proven on its first pod
   313 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v10
   313 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v10
          event          RolloutComplete: all pods serve v10
--- version v11 is published
   340 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v11 is revision 11
          event          RolloutStarted: version v11 is desired
   340 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v11 from file:///models/v11/
   342 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v11/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v11/: sha256:00000000.. is pinned for all pods
   342 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v11 (0 of 1 in use)
   342 s  Progressing 0/1 available 0
   345 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v11: out of its endpoints and settled
   346 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v11
          event          Proven: version v11 is proven on its first pod
   347 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v11
   347 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v11
          event          RolloutComplete: all pods serve v11
--- version v12 is published
   374 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v12 is revision 12
          event          RolloutStarted: version v12 is desired
   374 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v12 from file:///models/v12/
   376 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v12/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v12/: sha256:00000000.. is pinned for all pods
   376 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v12 (0 of 1 in use)
   376 s  Progressing 0/1 available 0
   379 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v12: out of its endpoints and settled
   380 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v12
          event          Proven: version v12 is proven on its first pod
   381 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v12
   381 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v12
          event          RolloutComplete: all pods serve v12
--- version v13 is published
   408 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v13 is revision 13
          event          RolloutStarted: version v13 is desired
   408 s  Progressing 0/1 available 1
          Stage          Scout: chat-0 reads v13 from file:///models/v13/
   410 s  Progressing 0/1 available 1
          RecordRevision DigestPinned: chat-0 read file:///models/v13/: sha256:00000000.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/v13/: sha256:00000000.. is pinned for all pods
   410 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v13 (0 of 1 in use)
   410 s  Progressing 0/1 available 0
   413 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v13: out of its endpoints and settled
   414 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v13
          event          Proven: version v13 is proven on its first pod
   415 s  Progressing 1/1 available 1
          RecordRevision AllPodsVerified: all 1 pods serve v13
   415 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v13
          PruneRevision  HistoryFull: version v01 is in use nowhere (revisionHistoryLimit 10)
          event          RolloutComplete: all pods serve v13
--- the oldest version that is left comes back
   442 s  Progressing 0/1 available 1
          RecordRevision NewRevision: version v02 comes back as revision 14
          Stage          NotStaged: chat-0 reads v02 sha256:00000000..
          event          RolloutStarted: version v02 is desired
   444 s  Progressing 0/1 available 1
          Reserve        BudgetAllows: chat-0 goes to v02 (0 of 1 in use)
   444 s  Progressing 0/1 available 0
   447 s  Progressing 0/1 available 0
          SwapPod        Settled: chat-0 swaps to v02: out of its endpoints and settled
   448 s  Progressing 1/1 available 0
          PutIn          Swapped: chat-0 serves v02
          event          Proven: version v02 is proven on its first pod
   449 s  Complete 1/1 available 1
          PublishStable  StableChanged: new and restarted pods of chat load v02
          event          RolloutComplete: all pods serve v02
