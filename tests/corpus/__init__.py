"""Hostile inputs, and what the product says to each.

    <kind>/NNN.<ext>       one input
    <kind>/expected.json   its class: what the judge of the kind answered when it was reviewed

A judge gives an input to the code that reads it in production and names the answer. It raises where
the answer is none: an exception that nothing expects, a file outside the agent's folders.
`python -m corpus.generate` writes the cases; reviewing a diff of `expected.json` is reviewing
behaviour. A case that once failed is kept in `found.py`.
"""
