"""The real HAProxy in front of an engine on loopback, with the configuration of docs/examples: `make test-proxy`."""
