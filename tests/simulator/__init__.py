"""A vLLM engine without a neural network: real wire, real bytes in memory, real bugs.

In: a safetensors checkpoint, `vllm.Control` over gRPC, completions over HTTP, the plugin's side of
`handover`. Out: answers that depend on every loaded byte, so that one wrong, stale or torn tensor
shows in the text (`answers` is the oracle). It behaves as the released engine does, not as one
would wish; where it is harsher than the engine, the place says so.

    python -m simulator --model DIR --http HOST:PORT --grpc HOST:PORT --handover DIR --staging DIR

Depends on `weightrollout.handover` and the generated messages, on nothing else of ours.
"""
