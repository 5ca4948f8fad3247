"""NVIDIA Dynamo's own sidecar, out of its wheel, in front of a simulated engine: no GPU, no etcd, no NATS."""
