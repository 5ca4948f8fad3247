"""A real vLLM on CPU to test against, its tiny checkpoints, and a client that compares exactly.

In: pinned packages, a checkpoint folder, flags. Out: an engine on loopback that ends with its test. It knows nothing of what
a test wants to prove, and never runs inside the tests' own virtual environment: vLLM has one of its own (`venv`).
"""
