"""A small world in which any process can be killed at any boundary, and what must hold afterwards.

Real: the swap's driver, machine, table and book, the fence, the readiness rules and, for fleets, the
planner. Model: processes, calls, engine, kubelet and time, which jumps to the next event. A journal is
the bytes that were written: what was not journaled does not survive.

A boundary is a journal write, or a call before it arrives and after it was executed. `strikes` counts
them and strikes at given ones, so a list of strikes is a whole story, and the same list is the same
story again.
"""
