"""The Kubernetes API server, and nothing else: the only room that imports `kubernetes`.

In: a kubeconfig or the pod's own account. Out: small frozen records and our own errors. Every call has
a deadline; every write is safe to repeat or is checked against what was read. Nothing here decides.
"""
