"""Exchange one engine's weights in the only order that is safe, and end every failure well.

`machine` decides (pure), `phases` names where it is, `table` holds the rules as data, `journal`
keeps what must survive a crash, `run` does what the machine says through the `Engine` protocol,
`backends` know how the bytes get in. Nothing here knows Kubernetes, gRPC or the operator.
"""
