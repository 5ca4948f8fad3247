"""The transfer core on a real GPU: does every byte arrive, and how near to the limit of the bus?

Needs a CUDA device, torch and the standard library; no vLLM, no pytest, no network. Without a device it
says so and ends. `tests/gpu/run.sh`, or `make test-gpu`; well under 4 minutes.
"""
