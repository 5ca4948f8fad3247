"""What an API server would say about a WeightRollout in a file, and what a person should know, offline.

`places` reads YAML and remembers lines, `cel` evaluates the rules of api.rules, `schema` walks the CRD's own
schema, `warnings` are about specs that are right and unwise. Nothing here asks a cluster.
"""
