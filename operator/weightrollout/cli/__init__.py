"""kubectl-weightrollout: what a person, or a pipeline, asks about a rollout, and asks of it.

`view`, `past`, `forecast`, `why` and `listing` say what is true, `render` and its neighbours how it looks, `commands` ask
and print. Written is a verb's annotation, or spec.mode and spec.weights (kube.person), always on top of what was read.
"""
