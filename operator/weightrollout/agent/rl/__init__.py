"""RL routes for trainers: vLLM's lifecycle calls as JSON over HTTP, guarded.

routes      which there are, and what an engine must be able to do for each
wishes      a body or a query as a checked request; nothing is touched before it is one
guard       what may not happen now, and why. Pure
lifecycle   one call at a time; reads that never wait for it
calls       what each does to the engine
notes       what the trainer holds, journaled: out of service before a call, back after the last
shown       what the fleet's discovery tells of them
door        the HTTP side: order of checks, codes, one form of errors

The operator's swaps and a trainer exclude each other: whoever came first holds the engine.
"""
