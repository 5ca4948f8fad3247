"""`make bench`: figures beside the alternative, in one run, written to docs/benchmarks.md."""
