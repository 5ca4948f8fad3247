"""kubectl-weightrollout: what a person, or a pipeline, asks about a rollout.

`view` says what is true, `render` how it looks, `commands` ask and print. Reads only.
"""
