"""Fleets, worlds and the invariants for testing the planner. Data in, data out; no clock."""
