"""Turn a workload with a vLLM container into one whose pods a WeightRollout can bring new weights.

In: Kubernetes objects as YAML gives them, and Options. Out: new objects and a Report per workload: what was changed, and what
could not be known. Never reads a file, asks a cluster or changes what it was given. What cannot be done safely is Refused, whole.

    documents   YAML text <-> objects, in order
    workloads   which kinds hold pods, and where
    pod         one pod template: all edits, in order
    engine      which container is the engine, and how vLLM is started in it
    doors       the engine's probes and preStop hook, where the agent answers them
    ours        our two containers and their volumes
    trainers    what the RL routes need, where they are asked for
    sizes       quantities, and how much staging takes
    edits       changes that can be taken back, from a record in the object itself

Taking back comes first: injecting an injected object takes the old injection out and puts the new one in. So inject is
idempotent because taking back is exact.
"""
