     0 s  Progressing 2/4 available 0
          RecordRevision NewRevision: version b is revision 1
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat wait for their trainer
          LabelPod       LabelDiffers: chat-0 serves 1
          LabelPod       LabelDiffers: chat-1 serves 1
          event          RolloutStarted: version b is desired
     0 s  Progressing 2/4 available 0
          Stage          Scout: chat-0 reads b from file:///models/b/
     1 s  Progressing 2/4 available 1
     1 s  Progressing 2/4 available 2
     2 s  Progressing 2/4 available 2
          RecordRevision DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
          event          DigestPinned: chat-0 read file:///models/b/: sha256:bbbbbbbb.. is pinned for all pods
     2 s  Progressing 2/4 available 2
          Stage          NotStaged: chat-2 reads b sha256:bbbbbbbb..
     4 s  Progressing 2/4 available 2
          Reserve        NotInService: chat-2 goes to b (not in service)
          Stage          NotStaged: chat-3 reads b sha256:bbbbbbbb..
     6 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to b: out of its endpoints and settled
     7 s  Progressing 2/4 available 2
          RecordRevision PromptFailed: chat-2: answer 1 does not contain '4'
          event          RevisionRejected: version b: PromptFailed: chat-2: answer 1 does not contain '4'
          event          PodFailed: PromptFailed: answer 1 does not contain '4'
     7 s  Failed 2/4 available 2
          RestartEngine  Poisoned: chat-2 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
          event          RolloutFailed: a trainer drives: 2 of 4 pods hold what it gave them; out of service, because base weights never serve where a trainer drives: chat-3; b was rejected (PromptFailed: chat-2: answer 1 does not contain '4'): publish a new version
          event          EngineRestartAsked: chat-2 holds neither the new weights nor the last good ones (PromptFailed: answer 1 does not contain '4')
          hold Verdict/RevisionRejected: version b was rejected: PromptFailed: chat-2: answer 1 does not contain '4'; onFailure is Hold: publish a new version
--- a good one
   127 s  Progressing 2/4 available 2
          RecordRevision NewRevision: version c is revision 2
          event          RolloutStarted: version c is desired
   127 s  Progressing 2/4 available 2
          Stage          Scout: chat-2 reads c from file:///models/c/
   129 s  Progressing 2/4 available 2
          RecordRevision DigestPinned: chat-2 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
          event          DigestPinned: chat-2 read file:///models/c/: sha256:cccccccc.. is pinned for all pods
   129 s  Progressing 2/4 available 2
          Reserve        NotInService: chat-2 goes to c (not in service)
          Stage          NotStaged: chat-3 reads c sha256:cccccccc..
   131 s  Progressing 2/4 available 2
          SwapPod        Settled: chat-2 swaps to c: out of its endpoints and settled
   132 s  Progressing 3/4 available 2
          RecordRevision ProvenByOnePod: the trainer calls c durable, and a pod has loaded it
          Reserve        NotInService: chat-3 goes to c (not in service)
          PutIn          Swapped: chat-2 serves c
   132 s  Progressing 3/4 available 2
          PublishStable  TrainerDrives: without an operator new and restarted pods of chat load c
          event          RolloutComplete: a trainer drives: 3 of 4 pods hold what it gave them; out of service, because base weights never serve where a trainer drives: chat-3; new pods load c; swapping chat-3
   133 s  Progressing 3/4 available 3
   134 s  Progressing 3/4 available 3
          SwapPod        Settled: chat-3 swaps to c: out of its endpoints and settled
   135 s  Complete 4/4 available 3
          PutIn          Swapped: chat-3 serves c
