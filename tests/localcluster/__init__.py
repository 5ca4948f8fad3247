"""A Kubernetes to test on: a control plane without Docker, a virtual node that runs pods as processes, ready-pod routing.

Knows nothing of WeightRollout; talks only to a cluster it started or was pointed at.
"""
