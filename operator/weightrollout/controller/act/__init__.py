"""Do what a plan asks for: one file per action, each safe to run twice.

Nothing is returned to the planner. While an action runs it shows as `Work`; when it fails outside the
agent's own record it shows as `ActionFailure`; what it did shows in the next observation.
"""
