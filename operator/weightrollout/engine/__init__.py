"""Talk to one engine. Hides how vLLM is reached; never decides what to do next.

In: one call with a deadline. Out: an answer, or an error that says what is known about the
engine afterwards (`errors`). Nothing here retries.
"""
