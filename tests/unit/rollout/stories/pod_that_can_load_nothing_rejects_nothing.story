     0 s  Complete 3/3 available 3
          event          RolloutStarted: version a is desired
          event          RolloutComplete: all pods serve a
     0 s  Progressing 2/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
     3 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
     4 s  Progressing 2/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
     9 s  Progressing 2/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
    11 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    12 s  Progressing 2/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
    22 s  Progressing 2/3 available 2
          Reserve        NotInService: chat-1 goes to a (not in service)
    24 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-1 swaps to a: out of its endpoints and settled
    25 s  Progressing 2/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          event          Held: BeyondRepair: chat-1 is out of service: it used up repair.retries 2 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
          hold Repair/BeyondRepair: chat-1 is out of service: it used up repair.retries 2 for all that it could serve: replace it, publish a new version, or repair.allowDelete: true evicts it
--- version b is published
    54 s  Progressing 0/3 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
    54 s  Progressing 0/3 available 2
          Stage          Scout: chat-1 reads b from file:///models/b/
    56 s  Progressing 0/3 available 2
          RecordRevision DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-1 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
    56 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
          Stage          NotStaged: chat-0 reads b sha256:bbbbbbbb..
    58 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    58 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
    59 s  Progressing 0/3 available 2
          RestartEngine  Poisoned: chat-1 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
          event          EngineRestartAsked: chat-1 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
    99 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
   101 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   102 s  Progressing 0/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
   119 s  Progressing 0/3 available 2
          hold BackOff/RetryBackOff: chat-1 is tried again after a pause: EngineCrashed: the engine process ended
   182 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
   184 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
   185 s  Progressing 0/3 available 2
          event          PodFailed: EngineCrashed: the engine process ended
          event          Held: BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
          hold Budget/BudgetUsedByUnreadyPods: strategy.maxUnavailable 1 allows 1, and chat-1 is not ready: bring these pods back or raise strategy.maxUnavailable
--- chat-1 is replaced
  4185 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-3 reads a sha256:aaaaaaaa..
  4187 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-3 goes to a (not in service)
  4189 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-3 swaps to a: out of its endpoints and settled
  4190 s  Progressing 0/3 available 2
          PutIn          Swapped: chat-3 serves a
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
  4191 s  Progressing 0/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
  4191 s  Progressing 0/3 available 2
  4194 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
  4195 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-0 serves b
          event          Proven: version b is proven on its first pod
  4196 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
  4196 s  Progressing 1/3 available 2
  4199 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
  4200 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-2 serves b
  4201 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-3 goes to b (0 of 1 in use)
  4201 s  Progressing 2/3 available 2
  4204 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-3 swaps to b: out of its endpoints and settled
  4205 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-3 serves b
  4206 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
  4206 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
