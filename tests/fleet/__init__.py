"""A fleet to roll: pods with a simulated engine and a real agent, an operator process, and traffic
that checks every answer. Used by the demo and by the cluster tests.
"""
