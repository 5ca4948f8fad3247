"""The operator: observe, plan, act, report, over and over, in one leading replica.

Every event only wakes a pass; a pass reads the truth again, asks the planner, starts what it says and
writes the status. No rule about weights or pods lives here: those are in `rollout`.
"""
