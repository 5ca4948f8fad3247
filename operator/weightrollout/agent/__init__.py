"""The sidecar beside one engine: stages weights, runs swaps, answers the readiness probe.

In: calls of one operator (fenced), and what the engine says about itself. Out: one observable
state. It knows neither planner nor cluster, keeps its promises in a journal, and goes on when the
operator is gone.
"""
