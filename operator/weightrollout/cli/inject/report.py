"""What inject says: options in; reports and refusals out."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from weightrollout.api.guard import Guard
from weightrollout.api.protocol import EngineProtocol

Json = dict[str, Any]


class Staging(StrEnum):
    MEMORY = "memory"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Options:
    """`name`: None for the label that is there, else the workload's own name.

    `checkpoint_bytes`: of one version; None: not known. `folder`: where agents read checkpoints (of a file:// URI), "" if not
    known. `remote`: not from a folder at all. `agent_mounts`: (volume of the pod, mount path). `agent_secrets`: names of Secrets.
    """

    agent_image: str
    name: str | None = None
    container: str | None = None
    staging: Staging = Staging.DISK
    checkpoint_bytes: int | None = None
    folder: str = ""
    remote: bool = False
    gate: bool = False
    operator_account: str | None = None  # None: the chart's, in the pod's namespace
    agent_args: tuple[str, ...] = ()
    agent_mounts: tuple[tuple[str, str], ...] = ()
    agent_secrets: tuple[str, ...] = ()
    acknowledge_exposed: bool = False
    node_volume: str = ""  # a claim, or a folder of the node where it begins with "/"
    trainer_token: tuple[str, str] | None = None  # Secret and key; None: the RL routes stay shut
    trainer_guard: Guard = Guard.STRICT
    trainer_drives: bool = False  # base weights wait for a trainer, or for an operator's word
    tls_secret: str = ""  # that the agent shows; "": one of its own making
    protocol: EngineProtocol = EngineProtocol.GRPC
    engine_token: tuple[str, str] | None = None  # Secret and key; of the guard, over HTTP alone
    sidecar: str = ""  # base URL of Dynamo's; "": as its container says
    trusted_root: tuple[str, str] | None = None  # ConfigMap and key; Sigstore's


class Reason(StrEnum):
    """Why something was refused, or could not be known. Each has a line in docs/inject.md."""

    # refused
    NO_ENGINE = "NoEngine"
    SEVERAL_ENGINES = "SeveralEngines"
    NAME_INVALID = "NameInvalid"
    NAME_DIFFERS = "NameDiffers"
    NAME_TAKEN = "NameTaken"
    HOST_NETWORK = "HostNetwork"
    MULTI_POD_ENGINE = "MultiPodEngine"
    SHELL_COMMAND = "ShellCommand"
    NO_ARGUMENTS = "NoArguments"
    FLAG_CONFLICT = "FlagConflict"
    ENVIRONMENT_CONFLICT = "EnvironmentConflict"
    ENGINE_OVER_TLS = "EngineOverTls"
    NO_SIDECAR = "NoSidecar"
    TOKEN_MISSING = "TokenMissing"
    SIZE_MISSING = "SizeMissing"
    VOLUME_MISSING = "VolumeMissing"
    INJECTED_BY_NEWER = "InjectedByNewer"
    RECORD_UNREADABLE = "RecordUnreadable"
    MALFORMED = "Malformed"
    # could not be known, or is not in this release
    CONTROL_PORT_EXPOSED = "ControlPortExposed"
    ENGINE_ON_LOOPBACK = "EngineOnLoopback"
    PROBE_LEFT = "ProbeLeft"
    PRE_STOP_KEPT = "PreStopKept"
    GRACE_SHORT = "GraceShort"
    IMAGE_PYTHON_PATH = "ImagePythonPath"
    ENTRY_POINT_ASSUMED = "EntryPointAssumed"
    CONFIG_FILE_UNSEEN = "ConfigFileUnseen"
    CHECKPOINT_NOT_MOUNTED = "CheckpointNotMounted"
    HOST_PATH = "HostPath"
    SIZE_UNKNOWN = "SizeUnknown"
    SIZE_ESTIMATED = "SizeEstimated"
    API_KEY = "ApiKey"
    TOKEN_UNSEEN = "TokenUnseen"
    ANSWERS_UNNAMED = "AnswersUnnamed"
    SIDECAR_UNSEEN = "SidecarUnseen"
    SIDECAR_BYPASSED = "SidecarBypassed"
    TRAINER_PORT_OPEN = "TrainerPortOpen"
    CERTIFICATE_OF_ITS_OWN = "CertificateOfItsOwn"
    CERTIFICATE_UNSEEN = "CertificateUnseen"
    WILL_BE_REFUSED = "WillBeRefused"
    GROUP_RESTARTS = "GroupRestarts"
    TAKEN_BACK_IN_PART = "TakenBackInPart"
    COMMENTS_LOST = "CommentsLost"


class Refused(Exception):
    """Nothing was changed. `hint` says what to do."""

    def __init__(self, reason: Reason, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint

    def of(self, who: str) -> "Refused":
        """The same, with the workload named."""
        return Refused(self.reason, f"{who}: {self.message}", self.hint)


@dataclass(frozen=True, slots=True)
class Unknown:
    reason: Reason
    message: str
    hint: str = ""


@dataclass(slots=True)
class Report:
    """Of one workload. `left`: why it was left as it is; "" where it was changed."""

    who: str
    changed: list[str] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    left: str = ""

    def could_not_know(self, reason: Reason, message: str, hint: str = "") -> None:
        self.unknown.append(Unknown(reason, message, hint))

    def lines(self) -> list[str]:
        if self.left:
            return [f"{self.who}: left as it is: {self.left}"]
        found = [f"{self.who}:", *(f"  changed  {each}" for each in self.changed)]
        for each in self.unknown:
            found.append(f"  note     {each.reason}: {each.message}")
            if each.hint:
                found.append(f"           -> {each.hint}")
        return found
