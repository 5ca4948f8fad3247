"""Turn a workload with a vLLM container into one whose pods a WeightRollout can bring new weights.

In: Kubernetes objects as YAML gives them, and Options. Out: new objects and a Report per workload: what was changed, and what
could not be known. Never reads a file, asks a cluster or changes what it was given. What cannot be done safely is Refused, whole.

    documents   YAML text <-> objects, in order
    workloads   which kinds hold pods, and where
    pod         one pod template: all edits, in order
    engine      which container is the engine, and how vLLM is started in it
    commands    words and flags of a container's command
    frontends   which of vLLM's frontends the agent's protocol needs, and what contradicts it
    protocols   what else a protocol asks of the pod: a token, Dynamo's sidecar
    sidecar     Dynamo's sidecar among the containers
    doors       the engine's probes and preStop hook, where the agent answers them
    ours        our two containers and their volumes
    trainers    what the RL routes need, where they are asked for
    signatures  whom to trust for weights that are signed without a key
    twice       what an option says, no argument of the agent may say, too
    sizes       quantities, and how much staging takes
    edits       changes that can be taken back, from a record in the object itself

Taking back comes first: injecting an injected object takes the old injection out and puts the new one in. So inject is
idempotent because taking back is exact.
"""
