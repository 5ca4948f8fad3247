"""Clients of the RL routes that others wrote, from their own wheels, each in a process of the Python that has a real vLLM.

`trlwheel` fetches TRL's, `drive` is the program in that Python, `theirs` is its other end in the tests.
"""
