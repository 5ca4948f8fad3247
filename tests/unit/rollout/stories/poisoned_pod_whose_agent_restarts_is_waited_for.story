     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/3 available 3
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 2 in use)
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
     2 s  Progressing 0/3 available 2
     4 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     5 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
     6 s  Progressing 0/3 available 2
          RestartEngine  Poisoned: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
--- the agent of chat-0 is silent
     6 s  Progressing 0/3 available 2
          hold Proof/ProveFirst: chat-0 must prove b before other pods load it (strategy.proveFirst)
--- it answers again
   206 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-0 goes to b (not in service)
   208 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   209 s  Progressing 0/3 available 2
          RestartEngine  Poisoned: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          PodFailed: ResendFailed: last good did not load
   219 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-0 goes to b (not in service)
   221 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
   222 s  Progressing 0/3 available 2
          event          PodFailed: ResendFailed: last good did not load
   269 s  Progressing 0/3 available 2
          RestartEngine  Poisoned: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
          event          EngineRestartAsked: chat-0 holds neither the new weights nor the last good ones (ResendFailed: last good did not load)
   274 s  Progressing 0/3 available 2
          RecordRevision ProverFailed: chat-0 could not load it and no pod ever has: ResendFailed: last good did not load
          event          RevisionRejected: version b: ProverFailed: chat-0 could not load it and no pod ever has: ResendFailed: last good did not load
   274 s  RollingBack 2/3 available 2
          Reserve        NotInService: chat-0 goes to a (not in service)
          event          RollbackStarted: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: ResendFailed: last good did not load); going back: 2 of 3 pods serve a
   276 s  RollingBack 2/3 available 2
          SwapPod        Settled: chat-0 swaps to a: out of its endpoints and settled
   277 s  RollingBack 3/3 available 2
          PutIn          Swapped: chat-0 serves a
   278 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (ProverFailed: chat-0 could not load it and no pod ever has: ResendFailed: last good did not load); the fleet serves a: publish a new version
