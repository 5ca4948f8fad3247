     0 s  Progressing 0/4 available 4
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/4 available 4
          Stage          Scout: chat-0 reads b from file:///models/b/
     2 s  Progressing 0/4 available 4
          RecordRevision SizeMismatch: chat-0: model.safetensors ends too early
          event          RevisionRejected: version b: SizeMismatch: chat-0: model.safetensors ends too early
          event          PodFailed: SizeMismatch: model.safetensors ends too early
     2 s  RolledBack 4/4 available 4
          event          RolledBack: b was rejected (SizeMismatch: chat-0: model.safetensors ends too early); the fleet serves a: publish a new version
