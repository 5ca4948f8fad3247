     0 s  Progressing 0/2 available 2
          RecordRevision NewRevision: version a is revision 2
          event          RolloutStarted: version a is desired
     0 s  Progressing 0/2 available 2
          Stage          Scout: chat-0 reads a from file:///models/b/
     2 s  Progressing 0/2 available 2
          RecordRevision VersionReused: version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:bbbbbbbb..: give the new content a new version in spec.weights.version
          event          RevisionRejected: version a: VersionReused: version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:bbbbbbbb..: give the new content a new version in spec.weights.version
     2 s  Failed 2/2 available 2
          event          RolloutFailed: 2 of 2 pods serve a; version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:bbbbbbbb..: give the new content a new version in spec.weights.version
          hold Spec/VersionReused: version a is bound to sha256:aaaaaaaa.. for ever and cannot become sha256:bbbbbbbb..: give the new content a new version in spec.weights.version
--- back to what a is bound to
     2 s  Progressing 2/2 available 2
          RecordRevision NewRevision: version a comes back as revision 3
          event          RolloutStarted: version a is desired
     2 s  Complete 2/2 available 2
