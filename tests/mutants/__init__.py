"""Guards removed on purpose: each mutant breaks one invariant of the design, and a named test sees it.

`make mutants` applies each one to a copy of the tree and runs only the tests that must go red. A mutant
that survives is a guard that nobody tests.
"""
