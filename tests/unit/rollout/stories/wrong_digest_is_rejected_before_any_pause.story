     0 s  Progressing 0/3 available 3
          RecordRevision NewRevision: version b is revision 2
          event          RolloutStarted: version b is desired
     0 s  Progressing 0/3 available 3
          Stage          NotStaged: chat-0 reads b sha256:cccccccc..
     2 s  Progressing 0/3 available 3
          RecordRevision DigestMismatch: chat-0: the files are sha256:bbbbbbbb..
          event          RevisionRejected: version b: DigestMismatch: chat-0: the files are sha256:bbbbbbbb..
          event          PodFailed: DigestMismatch: the files are sha256:bbbbbbbb..
     2 s  RolledBack 3/3 available 3
          event          RolledBack: b was rejected (DigestMismatch: chat-0: the files are sha256:bbbbbbbb..); the fleet serves a: publish a new version
