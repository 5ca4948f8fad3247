"""What injection brings into a pod: two containers, five volumes and those that were asked for, a probe."""

from dataclasses import dataclass
from typing import Final

from weightrollout.api import callers, names
from weightrollout.cli.inject import protocols, signatures, sizes, trainers
from weightrollout.cli.inject.engine import Access
from weightrollout.cli.inject.report import Json, Options, Staging

#: Nobody's id in most images; only used where the pod says that everything runs as root.
UNPRIVILEGED: Final = 65532

#: /readyz answers whether this engine may serve; the kubelet makes a restarted container unready by itself. An agent that is
#: restarted within three periods is not noticed.
READINESS: Final[Json] = {
    "httpGet": {"path": "/readyz", "port": names.DEFAULT_HTTP_PORT},
    "periodSeconds": 1,
    "timeoutSeconds": 1,
    "failureThreshold": 3,
}


#: Of the agent: swaps go on although the engine's control port answers on the pod's address.
ACKNOWLEDGE: Final = "--acknowledge-exposed-control-port"


@dataclass(frozen=True, slots=True)
class Place:
    """What our containers have to know of the pod that they come into."""

    options: Options
    access: Access
    environment: tuple[Json, ...]  # entries that the engine's addresses refer to
    mounts: tuple[Json, ...]  # where checkpoints are
    runs_as_root: bool  # the pod's own securityContext says so
    guaranteed: bool
    disk_limit: bool


#: A name of our own, so that an engine's POD_IP may mean what it likes.
POD_IP: Final = "WEIGHTROLLOUT_POD_IP"
#: All of them, with commas.
POD_IPS: Final = "WEIGHTROLLOUT_POD_IPS"
CLUSTER_TOKEN_S: Final = 3600
#: What else the agent is told of its pod.
IDENTITY: Final = (
    (names.ENV_POD_NAMESPACE, "metadata.namespace"),
    (names.ENV_POD_NAME, "metadata.name"),
    (names.ENV_POD_UID, "metadata.uid"),
)
#: Of the operator in the pod's own namespace, which a manifest need not name.
USUAL_ACCOUNT: Final = callers.account(f"$({names.ENV_POD_NAMESPACE})", names.OPERATOR_ACCOUNT)


def volumes(rollout: str, options: Options) -> list[Json]:
    staging: Json = {} if options.staging is Staging.DISK else {"medium": "Memory"}
    if options.checkpoint_bytes is not None:
        staging["sizeLimit"] = sizes.write(sizes.staging_bytes(options.checkpoint_bytes))
    return [
        {"name": names.VOLUME_STAGING, "emptyDir": staging},
        {"name": names.VOLUME_HANDOVER, "emptyDir": {}},
        {
            "name": names.VOLUME_STABLE,
            "configMap": {"name": names.stable_configmap(rollout), "optional": True},
        },
        {"name": names.VOLUME_PLUGIN, "emptyDir": {}},
        {"name": names.VOLUME_CLUSTER, "projected": {"sources": cluster_credentials()}},
        *_node_volume(options),
        *protocols.volumes(options),
        *trainers.volumes(options),
        *signatures.volumes(options),
    ]


def is_host_path(node_volume: str) -> bool:
    return node_volume.startswith("/")


def _node_volume(options: Options) -> list[Json]:
    """A folder of the node must be there already, and be the agent's to write: nobody here may make it so."""
    asked = options.node_volume
    if not asked:
        return []
    if is_host_path(asked):
        return [{"name": names.VOLUME_NODE, "hostPath": {"path": asked, "type": "Directory"}}]
    return [{"name": names.VOLUME_NODE, "persistentVolumeClaim": {"claimName": asked}}]


def cluster_credentials() -> list[Json]:
    """The pod's own token and the API server's authority: the agent reads the cluster's public keys with
    them, also where the pod mounts no token otherwise."""
    token = {"path": names.CLUSTER_TOKEN, "expirationSeconds": CLUSTER_TOKEN_S}
    items = [{"key": "ca.crt", "path": names.CLUSTER_CA}]
    return [
        {"serviceAccountToken": token},
        {"configMap": {"name": "kube-root-ca.crt", "items": items}},
    ]


def holds(mount: str, folder: str) -> bool:
    """Whether a mount path is that folder or above it."""
    return f"{folder.rstrip('/')}/".startswith(f"{mount.rstrip('/')}/")


def engine_mounts(options: Options) -> list[Json]:
    return [
        {"name": names.VOLUME_STAGING, "mountPath": names.MOUNT_STAGING, "readOnly": True},
        {"name": names.VOLUME_HANDOVER, "mountPath": names.MOUNT_HANDOVER},
        {"name": names.VOLUME_PLUGIN, "mountPath": names.MOUNT_PLUGIN, "readOnly": True},
        *protocols.mounts(options),
    ]


def plugin_container(place: Place) -> Json:
    """Ends before the engine starts."""
    return {
        "name": names.PLUGIN_CONTAINER,
        "image": place.options.agent_image,
        "command": [names.AGENT_PROGRAM, names.INSTALL_PLUGIN, names.MOUNT_PLUGIN],
        "resources": _resources(place, sizes.PLUGIN_BYTES),
        "securityContext": _restricted(place),
        "volumeMounts": [{"name": names.VOLUME_PLUGIN, "mountPath": names.MOUNT_PLUGIN}],
    }


def agent_container(place: Place, rollout: str) -> Json:
    """A native sidecar: it starts before the engine and ends after it."""
    shared = bool(place.options.node_volume)
    return {
        "name": names.AGENT_CONTAINER,
        "image": place.options.agent_image,
        "restartPolicy": "Always",
        "command": [names.AGENT_PROGRAM],
        "args": [
            *protocols.arguments(place.options, place.access),
            f"--grpc-bind=$({POD_IP}):{names.DEFAULT_GRPC_PORT}",
            f"--http-bind=$({POD_IP}):{names.DEFAULT_HTTP_PORT}",
            f"--pod-ip=$({POD_IPS})",
            *([ACKNOWLEDGE] if place.options.acknowledge_exposed else []),
            f"--staging={names.MOUNT_STAGING}",
            f"--handover={names.MOUNT_HANDOVER}",
            f"--stable={names.MOUNT_STABLE}",
            *([f"--node-volume={_node_folder(rollout)}"] if shared else []),
            *_callers(place.options),
            *trainers.arguments(place.options, POD_IP),
            *signatures.arguments(place.options),
            *place.options.agent_args,
        ],
        **({"envFrom": _secrets(place.options)} if place.options.agent_secrets else {}),
        "env": _environment(place),
        "ports": [
            {"name": names.PORT_GRPC, "containerPort": names.DEFAULT_GRPC_PORT},
            {"name": names.PORT_HTTP, "containerPort": names.DEFAULT_HTTP_PORT},
            *trainers.ports(place.options),
        ],
        "resources": agent_resources(place),
        "securityContext": _restricted(place),
        "volumeMounts": [
            {"name": names.VOLUME_STAGING, "mountPath": names.MOUNT_STAGING},
            {"name": names.VOLUME_HANDOVER, "mountPath": names.MOUNT_HANDOVER},
            {"name": names.VOLUME_STABLE, "mountPath": names.MOUNT_STABLE, "readOnly": True},
            {"name": names.VOLUME_CLUSTER, "mountPath": names.MOUNT_CLUSTER, "readOnly": True},
            *([{"name": names.VOLUME_NODE, "mountPath": names.MOUNT_NODE}] if shared else []),
            *protocols.mounts(place.options),
            *trainers.mounts(place.options),
            *signatures.mounts(place.options),
            *place.mounts,
        ],
    }


def _node_folder(rollout: str) -> str:
    """One for each fleet: an agent makes it, and uses none that others may write."""
    return f"{names.MOUNT_NODE}/$({names.ENV_POD_NAMESPACE}).{rollout}"


def agent_resources(place: Place) -> Json:
    options = place.options
    found = _resources(place, sizes.agent_memory(options.staging, options.checkpoint_bytes))
    if options.staging is Staging.DISK and options.checkpoint_bytes is not None:
        room = sizes.write(sizes.staging_bytes(options.checkpoint_bytes))
        found["requests"]["ephemeral-storage"] = room
        if place.disk_limit:
            found["limits"]["ephemeral-storage"] = room
    return found


def _resources(place: Place, memory: int) -> Json:
    cpu = sizes.GUARANTEED_CPU if place.guaranteed else sizes.AGENT_CPU
    quantity = sizes.write(memory)
    limits = {"cpu": cpu, "memory": quantity} if place.guaranteed else {"memory": quantity}
    return {"requests": {"cpu": cpu, "memory": quantity}, "limits": limits}


def _restricted(place: Place) -> Json:
    """What the Pod Security profile `restricted` asks for, and a root that cannot be written."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        **({"runAsUser": UNPRIVILEGED} if place.runs_as_root else {}),
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _callers(options: Options) -> list[str]:
    """Who may call. Whoever says it by certificates says so alone, but where an account is named, too."""
    by_certificate = any(each.startswith("--client-name") for each in options.agent_args)
    if options.operator_account is None and by_certificate:
        return []
    return [
        f"--operator-account={options.operator_account or USUAL_ACCOUNT}",
        f"--cluster-credentials={names.MOUNT_CLUSTER}",
    ]


def _secrets(options: Options) -> list[Json]:
    return [{"secretRef": {"name": each}} for each in options.agent_secrets]


def _environment(place: Place) -> list[Json]:
    fields = ((POD_IP, "status.podIP"), (POD_IPS, "status.podIPs"), *IDENTITY)
    ours = [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields]
    return [*ours, *place.environment]
