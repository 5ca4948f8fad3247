"""Short words for specs, checkpoints and pods."""

from typing import Any

from weightrollout.api.spec import Strategy, Swap, WeightRolloutSpec, Weights
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.rollout.fleet import Ref, Revision, Verdict
from weightrollout.rollout.revisions import revision_name
from weightrollout.rollout.simulate import Checkpoint, Choose, ToyWorld, first
from weightrollout.rollout.toypod import Fate, StageFate, ToyPod

PROMPT_FAILED = Fate(
    Outcome.UNDONE, FailureClass.WEIGHTS, "PromptFailed", "answer 1 does not contain '4'"
)
CRASHED = Fate(Outcome.RESTARTED, FailureClass.POD, "EngineCrashed", "the engine process ended")
UNDONE = Fate(Outcome.UNDONE, FailureClass.POD, "TransferFailed", "the engine refused block 7")
POISONED = Fate(Outcome.POISONED, FailureClass.POD, "ResendFailed", "last good did not load")
REFUSED = Fate(Outcome.UNTOUCHED, FailureClass.POD, "DrainTimeout", "3 requests still run")
TRUNCATED = StageFate(FailureClass.WEIGHTS, "SizeMismatch", "model.safetensors ends too early")
METADATA_DIFFERS = StageFate(
    FailureClass.WEIGHTS,
    "MetadataDiffers",
    "chat_template.jinja: not what the engine was started with",
)
NO_STORE = StageFate(FailureClass.ENVIRONMENT, "SourceUnreadable", "input/output error")

TAKE_OUT_NONE = Swap.model_validate({"takeOut": "None"})


def digest(letter: str) -> str:
    return "sha256:" + letter * 64


def uri(version: str) -> str:
    return f"file:///models/{version}/"


def weights(version: str, digest: str | None = None) -> Weights:
    given = {} if digest is None else {"digest": digest}
    return Weights.model_validate({"version": version, "uri": uri(version), **given})


def spec(version: str | None, **fields: Any) -> WeightRolloutSpec:
    """Defaults but for maxUnavailable 1 and what is given."""
    strategy = fields.pop("strategy", Strategy(max_unavailable=1))
    desired = None if version is None else weights(version)
    return WeightRolloutSpec(weights=desired, strategy=strategy, **fields)


def good(version: str) -> Checkpoint:
    """Every version has its own digest, from its last character."""
    return Checkpoint(digest(version[-1]))


def pods(count: int, **fields: Any) -> list[ToyPod]:
    return [new_pod(index, **fields) for index in range(count)]


def new_pod(index: int, **fields: Any) -> ToyPod:
    return ToyPod(f"chat-{index}", f"pod-{index}", **fields)


def ref_of(version: str) -> Ref:
    return Ref(revision_name("chat", weights(version)), version, uri(version), digest(version[-1]))


def serving(world: ToyWorld, version: str) -> ToyWorld:
    """The world as a complete rollout of this version left it."""
    ref = ref_of(version)
    number = len(world.revisions) + 1
    done = Revision(ref, number, digest_given=False, verdict=Verdict.VERIFIED)
    world.revisions = (*world.revisions, done)
    world.published = ref
    for pod in world.pods:
        pod.loaded = pod.told = ref
        pod.staged = {ref.digest or ""}
        pod.ready = True
        pod.gate_open = True if pod.gated else None
        pod.version_label = version
    return world


def world_of(
    version: str | None, count: int, *, choose: Choose = first, on: str = "", **fields: Any
) -> ToyWorld:
    """`count` pods that serve version `on` (or their base weights), with `version` desired."""
    of_pods = {"gated": fields.pop("gated", False)}
    checkpoints = {uri(each): good(each) for each in ("a", "b", "c", "d")}
    world = ToyWorld(spec(version, **fields), pods(count, **of_pods), checkpoints, choose=choose)
    if on:
        return serving(world, on)
    for pod in world.pods:
        pod.ready = not pod.gated
    return world
