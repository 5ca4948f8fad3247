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
     2 s  Progressing 0/2 available 2
          RecordRevision MetadataDiffers: chat-0: chat_template.jinja: not what the engine was started with
          event          RevisionRejected: version b: MetadataDiffers: chat-0: chat_template.jinja: not what the engine was started with
          event          PodFailed: MetadataDiffers: Reserve: chat_template.jinja: not what the engine was started with
     2 s  RolledBack 2/2 available 2
          event          RolledBack: b was rejected (MetadataDiffers: chat-0: chat_template.jinja: not what the engine was started with); the fleet serves a: publish a new version
