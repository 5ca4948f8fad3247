"""Every name that crosses a process boundary: group, labels, annotations, ports, volumes."""

from typing import Final

GROUP: Final = "weightrollout.dev"
VERSION: Final = "v1alpha1"
KIND: Final = "WeightRollout"
PLURAL: Final = "weightrollouts"
API_VERSION: Final = f"{GROUP}/{VERSION}"

FIELD_MANAGER: Final = "weightrollout"

#: On the pod template: which WeightRollout the pod belongs to. Set by the pod's owner.
LABEL_NAME: Final = f"{GROUP}/name"
#: On the pod: the version it was put in with. Set by the operator.
LABEL_VERSION: Final = f"{GROUP}/version"
#: On the pod: JSON {cr, epoch, revision, attempt, txn} of the swap that put it in.
ANNOTATION_SWAP: Final = f"{GROUP}/swap"
#: On ControllerRevisions: mutable facts about an immutable content.
ANNOTATION_DIGEST: Final = f"{GROUP}/digest"
ANNOTATION_VERDICT: Final = f"{GROUP}/verdict"
ANNOTATION_VERDICT_REASON: Final = f"{GROUP}/verdict-reason"
ANNOTATION_VERDICT_MESSAGE: Final = f"{GROUP}/verdict-message"
ANNOTATION_VERDICT_TIME: Final = f"{GROUP}/verdict-time"
#: JSON {id, tries, after}: a person asked for a rejected one again.
ANNOTATION_RETRY: Final = f"{GROUP}/retry"
#: On the WeightRollout: one verb of a person, see rollout/verbs.py.
ANNOTATION_ACTION: Final = f"{GROUP}/action"
#: On the CRD: schema_hash() of the types it was generated from.
ANNOTATION_SCHEMA: Final = f"{GROUP}/schema"
#: Opt-in readiness gate; its condition has the same name.
GATE_SERVING: Final = f"{GROUP}/Serving"

#: On an injected pod template: JSON, how to take the injection back.
ANNOTATION_INJECTED: Final = f"{GROUP}/injected"

AGENT_CONTAINER: Final = "weightrollout-agent"
#: The init container that brings the engine plugin.
PLUGIN_CONTAINER: Final = "weightrollout-plugin"
#: The program of both, and what it is told in the second.
AGENT_PROGRAM: Final = "weightrollout-agent"
INSTALL_PLUGIN: Final = "install-plugin"
PORT_GRPC: Final = "wr-grpc"
PORT_HTTP: Final = "wr-http"
#: Only where the RL routes are open.
PORT_TRAINER: Final = "wr-trainer"
DEFAULT_GRPC_PORT: Final = 9610
DEFAULT_HTTP_PORT: Final = 9611
DEFAULT_TRAINER_PORT: Final = 9612
VOLUME_STAGING: Final = "weightrollout-staging"
VOLUME_HANDOVER: Final = "weightrollout-handover"
VOLUME_STABLE: Final = "weightrollout-stable"
VOLUME_PLUGIN: Final = "weightrollout-plugin"
#: By which the agent reads the cluster's public keys: its own token, and whom to trust as the API server.
VOLUME_CLUSTER: Final = "weightrollout-cluster"
#: That the pods of a node share, where one is offered: of the agent alone.
VOLUME_NODE: Final = "weightrollout-node"
#: Only where they are asked for: the trainers' token, and the agent's certificate.
VOLUME_TRAINERS: Final = "weightrollout-trainers"
VOLUME_TLS: Final = "weightrollout-tls"
#: Only where they are needed: the token of the guard of the RL routes, and Sigstore's trusted root.
VOLUME_GUARD: Final = "weightrollout-guard"
VOLUME_SIGSTORE: Final = "weightrollout-sigstore"
#: Where they are mounted, in the agent and in the engine.
MOUNT_STAGING: Final = "/weightrollout/staging"
MOUNT_HANDOVER: Final = "/weightrollout/handover"
MOUNT_STABLE: Final = "/weightrollout/stable"
MOUNT_PLUGIN: Final = "/weightrollout/plugin"
MOUNT_CLUSTER: Final = "/weightrollout/cluster"
MOUNT_NODE: Final = "/weightrollout/node"
MOUNT_TRAINERS: Final = "/weightrollout/trainers"
MOUNT_TLS: Final = "/weightrollout/tls"
MOUNT_GUARD: Final = "/weightrollout/guard"
MOUNT_SIGSTORE: Final = "/weightrollout/sigstore"
CLUSTER_TOKEN: Final = "token"
CLUSTER_CA: Final = "ca.crt"
GUARD_TOKEN: Final = "token"

#: By which vLLM's --middleware finds the guard in the engine plugin.
GUARD_MIDDLEWARE: Final = "weightrollout.plugin.guard.Guard"

#: Environment of the agent, by the downward API.
ENV_POD_NAMESPACE: Final = "WEIGHTROLLOUT_POD_NAMESPACE"
ENV_POD_NAME: Final = "WEIGHTROLLOUT_POD_NAME"
ENV_POD_UID: Final = "WEIGHTROLLOUT_POD_UID"
#: The operator's ServiceAccount, as the chart names it.
OPERATOR_ACCOUNT: Final = "weightrollout-operator"

#: The label that a vLLM engine is born with.
BASELINE_VERSION: Final = "default"

#: A CR's name goes into label values and into "<name>.weightrollout" and "<name>-<hash>".
MAX_NAME_LENGTH: Final = 52

#: What agents say that they can do: see `AgentState.capabilities`.
CAPABILITY_DRAFTS: Final = "Drafts"
CAPABILITY_GIVE_UP: Final = "GiveUp"
CAPABILITY_DRIVER: Final = "Driver"
CAPABILITY_LIMITS: Final = "Limits"
CAPABILITY_SIGNATURES: Final = "Signatures"
CAPABILITIES: Final = frozenset(
    {
        CAPABILITY_DRAFTS,
        CAPABILITY_GIVE_UP,
        CAPABILITY_DRIVER,
        CAPABILITY_LIMITS,
        CAPABILITY_SIGNATURES,
    }
)

#: Revision of weights that a trainer sent into an engine: they have a version, and no checkpoint.
TRAINER_REVISION: Final = "trainer"

STABLE_KEY: Final = "stable.json"


def stable_configmap(rollout: str) -> str:
    """Name of the fleet ConfigMap that tells pods the stable version without the operator."""
    return f"{rollout}.weightrollout"
