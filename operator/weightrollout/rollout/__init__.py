"""Decide what one pass of a rollout does next.

In: one Fleet. Out: one Plan. Never awaits, logs, reads a clock or talks to anyone: the same fleet
always gives the same plan, so every plan can be replayed from a bug report.
"""
