"""vLLM's real frontend, `vllm-rs` 0.33, over engine cores that follow a script.

The frontend is the file that vLLM ships: its gRPC and HTTP surface, status codes, texts, mutex, TLS,
health, and how it joins what several cores say, are the real thing. Behind it, over ZeroMQ, runs
the simulator's core, so that weights are bytes and answers depend on them; a script makes a core
hang, fail, disagree or die. What a core does by itself is the simulator's word, not vLLM's.

    python -m frontend build      fetch the binary into the cache, once

Needs neither torch nor vLLM. Nothing here knows a test.
"""
