"""The contract between the agent and the engine plugin: small JSON files and two RPC payloads.

Promise: standard library only, no import of any other room, so that the plugin can load it in a
foreign process. Every file is written to a temporary name and renamed, so a reader sees all of it
or nothing. Paths inside are relative to the volume that holds them: each side has its own mount.

    handover volume (both write)
      report-rank<r>.json            EngineReport   plugin, at load
      prepared-<txn>-rank<r>.json    Prepared       plugin, after Init
      receipt-<txn>-rank<r>.json     Receipt        plugin, after Update
      receipt-<txn>-draft-rank<r>.json              the same, of the draft's session
      exit-request.json              ExitRequest    agent, asks the engine's process to end
    staging volume (agent writes, engine reads)
      images/<digest hex>/<plan id>/rank<r>.image   the bytes, one page-aligned block per parameter
      images/<digest hex>/<plan id>/index.json      ImageIndex; written last, so its presence commits
      images/<digest hex>/<plan id>/...             what `weights.beside` keeps there is the agent's own
      A draft's image lies likewise below the digest of its own checkpoint and its own plan id.
    memory.py is the one thing here that is no contract: both sides ask what they may still take.
    RPC payloads
      InitWeightTransferEngine(InitInfo)     UpdateWeights(UpdateInfo)
"""
