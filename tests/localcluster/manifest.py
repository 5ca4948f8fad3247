"""Read a pod manifest as the kubelet does: environment, $(VAR) expansion, mount paths, probe ports.

Purely computational. There is no mount namespace here, so a container's mount paths are rewritten instead: every mountPath that
stands as a whole path, or as the head of one, in its command, args, environment values, working directory, exec probes and exec
hooks becomes the folder of the volume on this machine. Not rewritten: what a program reads from files or builds at run time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Json = dict[str, Any]
ContainerKind = Literal["init", "sidecar", "main"]

REFERENCE: Final = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
KEYED: Final = re.compile(r"^metadata\.(labels|annotations)\['([^']+)'\]$")


class ConfigError(Exception):
    """The container cannot be made as things are: a reference is missing, or something this node does not do is asked for.

    It is tried again, as the missing object may come.
    """


@dataclass(frozen=True)
class Lookup:
    """Where references lead; a getter returns the whole object, or None when there is none."""

    config_map: Callable[[str, str], Json | None]
    secret: Callable[[str, str], Json | None]


@dataclass(frozen=True)
class PodFacts:
    """What the downward API tells."""

    pod: Json
    pod_ip: str
    host_ip: str
    node: str


def containers(pod: Json) -> list[tuple[Json, ContainerKind]]:
    """All containers of a pod in the order in which they start."""
    found: list[tuple[Json, ContainerKind]] = []
    for container in pod["spec"].get("initContainers") or []:
        found.append(
            (container, "sidecar" if container.get("restartPolicy") == "Always" else "init")
        )
    found += [(container, "main") for container in pod["spec"]["containers"]]
    return found


def environment(container: Json, facts: PodFacts, lookup: Lookup) -> dict[str, str]:
    """The container's own variables, expanded, not yet rewritten. ConfigError when a reference that must exist does not."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        found.update(_all_of(source, facts, lookup))
    for entry in container.get("env") or []:
        if "valueFrom" in entry:
            value = _referenced(entry["valueFrom"], facts, lookup)
            if value is not None:
                found[entry["name"]] = value
        else:
            found[entry["name"]] = expand(entry.get("value") or "", found)
    return found


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace $(NAME) where NAME is known; $$ is a dollar sign; unknown names stay as they are."""

    def one(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return variables.get(match[1], match[0])

    return REFERENCE.sub(one, text)


def field(path: str, facts: PodFacts) -> str:
    """A downward API field. ConfigError for one we do not know."""
    metadata, spec = facts.pod["metadata"], facts.pod["spec"]
    if keyed := KEYED.match(path):
        return str((metadata.get(keyed[1]) or {}).get(keyed[2], ""))
    known = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "metadata.labels": _lines(metadata.get("labels") or {}),
        "metadata.annotations": _lines(metadata.get("annotations") or {}),
        "spec.nodeName": facts.node,
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": facts.host_ip,
        "status.hostIPs": facts.host_ip,
        "status.podIP": facts.pod_ip,
        "status.podIPs": facts.pod_ip,
    }
    if path not in known:
        raise ConfigError(f"the virtual node does not know the field {path}")
    return str(known[path])


class MountPaths:
    """Rewrites one container's mount paths to folders of this machine."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        """`folders`: mount path to folder."""
        self._folders = {path.rstrip("/"): folder for path, folder in folders.items()}
        longest_first = sorted(self._folders, key=len, reverse=True)
        anyone = "|".join(re.escape(path) for path in longest_first)
        # A path starts where no path is going on already, or after the two slashes of a URL; it ends at a separator.
        self._pattern = (
            re.compile(rf"(?:(?<=://)|(?<![\w./-]))(?:{anyone})(?![\w.-])") if anyone else None
        )

    def rewrite(self, text: str) -> str:
        """The text with every mount path in it replaced, each once."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._folders[found[0]], text)

    def rewrite_all(self, texts: Sequence[str]) -> list[str]:
        """The same for each text."""
        return [self.rewrite(text) for text in texts]


def mount_folders(container: Json, volume_folders: Mapping[str, str]) -> dict[str, str]:
    """Mount path to folder of this machine. ConfigError for subPath, which would need a mount."""
    found = {}
    for mount in container.get("volumeMounts") or []:
        if mount.get("subPath") or mount.get("subPathExpr"):
            raise ConfigError(f"volumeMount {mount['name']}: the virtual node does not do subPath")
        if mount["name"] in volume_folders:
            found[mount["mountPath"]] = volume_folders[mount["name"]]
    return found


def probe_port(port: int | str, container: Json, others: Sequence[Json] = ()) -> int:
    """The number of a probe's port. As in the kubelet a name is looked up among the ports of the probe's own container.

    `others` are searched too, for tests that accept what a real kubelet refuses. LookupError when the name is not there.
    """
    if isinstance(port, int):
        return port
    for candidate in (container, *others):
        for declared in candidate.get("ports") or []:
            if declared.get("name") == port:
                return int(declared["containerPort"])
    if port.isdigit():
        return int(port)
    raise LookupError(
        f"container {container['name']} declares no port named {port} (the kubelet looks in no other one)"
    )


def payload(source: Json) -> dict[str, bytes]:
    """The files of a ConfigMap or Secret."""
    files = {}
    if source.get("kind") == "Secret":
        return {key: base64.b64decode(data) for key, data in (source.get("data") or {}).items()}
    files.update({key: text.encode() for key, text in (source.get("data") or {}).items()})
    files.update(
        {key: base64.b64decode(data) for key, data in (source.get("binaryData") or {}).items()}
    )
    return files


def picked(
    files: Mapping[str, bytes], items: Sequence[Json] | None, *, optional: bool
) -> dict[str, bytes]:
    """The files under the names that a volume's `items` give them; all of them without items."""
    if not items:
        return dict(files)
    found = {}
    for item in items:
        if item["key"] in files:
            found[item["path"]] = files[item["key"]]
        elif not optional:
            raise ConfigError(f"key {item['key']} is missing")
    return found


def _referenced(source: Json, facts: PodFacts, lookup: Lookup) -> str | None:
    if reference := source.get("fieldRef"):
        return field(reference["fieldPath"], facts)
    for what, getter in (("configMapKeyRef", lookup.config_map), ("secretKeyRef", lookup.secret)):
        if reference := source.get(what):
            found = getter(facts.pod["metadata"]["namespace"], reference["name"])
            files = payload(found) if found else {}
            if reference["key"] in files:
                return files[reference["key"]].decode()
            if reference.get("optional"):
                return None
            raise ConfigError(f"{what} {reference['name']}: no key {reference['key']}")
    raise ConfigError(f"the virtual node does not do valueFrom {', '.join(source)}")


def _all_of(source: Json, facts: PodFacts, lookup: Lookup) -> dict[str, str]:
    for what, getter in (("configMapRef", lookup.config_map), ("secretRef", lookup.secret)):
        if reference := source.get(what):
            found = getter(facts.pod["metadata"]["namespace"], reference["name"])
            if found is None and not reference.get("optional"):
                raise ConfigError(f"{what} {reference['name']} is missing")
            prefix = source.get("prefix") or ""
            return {prefix + key: data.decode() for key, data in payload(found or {}).items()}
    return {}


def _lines(entries: Mapping[str, str]) -> str:
    return "\n".join(f'{key}="{value}"' for key, value in sorted(entries.items()))
