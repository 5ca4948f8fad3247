"""Sigstore's trusted root, mounted into the agent on request: weights that are signed without a key are checked against it."""

from typing import Final

from weightrollout.api import names
from weightrollout.cli.inject.report import Json, Options, Report

OPTION: Final = "--sigstore-trusted-root"
#: In a ConfigMap, as docs/howto/signing.md has it made.
FILE: Final = "trusted_root.json"


def volumes(options: Options) -> list[Json]:
    """The kubelet brings a new one into the folder, and the agent reads it at each staging."""
    if options.trusted_root is None:
        return []
    config_map, key = options.trusted_root
    items = [{"key": key, "path": FILE}]
    return [{"name": names.VOLUME_SIGSTORE, "configMap": {"name": config_map, "items": items}}]


def mounts(options: Options) -> list[Json]:
    return [
        {"name": each["name"], "mountPath": names.MOUNT_SIGSTORE, "readOnly": True}
        for each in volumes(options)
    ]


def arguments(options: Options) -> list[str]:
    return [] if options.trusted_root is None else [f"{OPTION}={names.MOUNT_SIGSTORE}/{FILE}"]


def report(said: Report, options: Options) -> None:
    if options.trusted_root is not None:
        config_map, key = options.trusted_root
        said.changed.append(f"Sigstore's trusted root of ConfigMap {config_map} (key {key})")
