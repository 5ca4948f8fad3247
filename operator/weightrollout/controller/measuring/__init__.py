"""Ask others how a canary does: one question, one `Measurement`.

Whatever goes wrong outside is an answer too: a reason without a value. Nothing here judges; that is
`rollout/analysis.py`. Nobody is asked who is not on the operator's list, and no redirect is followed,
because whoever may edit a WeightRollout chooses what this process connects to.
"""
