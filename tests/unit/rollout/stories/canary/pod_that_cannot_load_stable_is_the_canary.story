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
--- version b is published, and chat-0 holds it from an earlier day
    54 s  Progressing 0/3 available 2 step 0/2
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
    54 s  Progressing 0/3 available 2 step 0/2
          Stage          NotStaged: chat-1 reads b sha256:bbbbbbbb..
    56 s  Progressing 0/3 available 2 step 0/2
          Reserve        NotInService: chat-1 goes to b (not in service)
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
    58 s  Progressing 0/3 available 2 step 0/2
          SwapPod        Settled: chat-1 swaps to b: out of its endpoints and settled
    59 s  Progressing 1/3 available 2 step 0/2
          PutIn          Swapped: chat-1 serves b
          event          Proven: version b is proven on its first pod
    60 s  Paused 1/3 available 3 step 1/2
          event          StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
          hold Step/StepPaused: waiting at step 2 of 2: kubectl weightrollout promote chat
