"""A whole Kubernetes node to test on: containerd, kubelet, kube-proxy and pods, beside the control plane of `localcluster`.

Everything runs in network, mount, PID and cgroup namespaces of its own, so that the machine has no more of it than processes
and one folder, and these end with the tests, however they end. Needs root and Linux. Knows nothing of WeightRollout.
"""
