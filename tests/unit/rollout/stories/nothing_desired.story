     0 s  Complete 2/2 available 2
--- a new pod loads stable
     0 s  Pending 2/3 available 2
          Stage          NotStaged: chat-2 reads a sha256:aaaaaaaa..
          hold Mode/NothingDesired: spec.weights is absent and pods are left with what they serve: set spec.weights
     2 s  Pending 2/3 available 2
          Reserve        NotInService: chat-2 goes to a (not in service)
          hold Mode/NothingDesired: spec.weights is absent and pods are left with what they serve: set spec.weights
     4 s  Pending 2/3 available 2
          SwapPod        Settled: chat-2 swaps to a: out of its endpoints and settled
          hold Mode/NothingDesired: spec.weights is absent and pods are left with what they serve: set spec.weights
     5 s  Complete 3/3 available 2
          PutIn          Swapped: chat-2 serves a
     6 s  Complete 3/3 available 3
