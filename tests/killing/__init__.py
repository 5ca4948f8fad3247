"""Stop the operator, an agent or an engine with SIGKILL exactly at a named boundary.

`python -m killing.operator`, `.agent` and `.engine` run the same `main` as production, patched from
outside: at every boundary the process asks the `armed` folder whether this is where it dies.
`boundaries` lists every boundary there is, derived from the product; `lane` is a fleet to kill in.
"""
