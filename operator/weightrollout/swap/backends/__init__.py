"""How the bytes get into the engine. One module per way; all speak `protocol.Backend`."""
