"""Conversations of an operator and an agent as they were held, kept for the releases that come after.

    python -m wirerecord     record those of this release anew (`make record-wire`)

In: a real operator, a real agent, a simulated engine, a small cluster. Out: one folder for each release,
`tests/wirerecord/releases/<version>/`. A recording is never edited; docs/upgrade.md says when one is made.
"""
