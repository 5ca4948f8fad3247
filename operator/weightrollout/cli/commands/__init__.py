"""One file per command: its options, its help with worked examples, its exit codes."""
