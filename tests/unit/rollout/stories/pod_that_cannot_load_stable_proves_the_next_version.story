     0 s  Complete 3/3 available 3
          event          RolloutStarted: version a is desired
          event          RolloutComplete: all pods serve a
--- the engine of chat-1 restarts, and crashes whenever it loads a
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
--- version b is published, and chat-0 holds it from an earlier day
    54 s  Progressing 0/3 available 2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
    54 s  Progressing 0/3 available 2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    56 s  Progressing 0/3 available 2
          Reserve        NotInService: chat-1 goes to b (not in service)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
    58 s  Progressing 0/3 available 2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    59 s  Progressing 1/3 available 2
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
    60 s  Progressing 1/3 available 3
          Reserve        BudgetAllows: chat-0 goes to b (0 of 1 in use)
    60 s  Progressing 1/3 available 2
    63 s  Progressing 1/3 available 2
          SwapPod        Settled: chat-0 swaps to b: out of its endpoints and settled
    64 s  Progressing 2/3 available 2
          PutIn          Swapped: chat-0 serves b
    65 s  Progressing 2/3 available 3
          Reserve        BudgetAllows: chat-2 goes to b (0 of 1 in use)
    65 s  Progressing 2/3 available 2
    68 s  Progressing 2/3 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
    69 s  Progressing 3/3 available 2
          PutIn          Swapped: chat-2 serves b
    70 s  Progressing 3/3 available 3
          RecordRevision AllPodsVerified: all 3 pods serve b
    70 s  Complete 3/3 available 3
          PublishStable  StableChanged: new and restarted pods of chat load b
          event          RolloutComplete: all pods serve b
