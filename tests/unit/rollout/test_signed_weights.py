"""Who must have signed is part of what a revision asks for; pods load nothing before it was found so."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from planning.worlds import digest, ref_of, world_of
from weightrollout.api.names import CAPABILITY_SIGNATURES
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft, Weights
from weightrollout.api.status import Phase
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.actions import Stage, SwapPod
from weightrollout.rollout.fleet import AgentView, EngineView
from weightrollout.rollout.simulate import Checkpoint, ToyWorld
from weightrollout.rollout.toypod import StageFate

KEY = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"
WHO = {"identity": "release@acme.example", "issuer": "https://issuer.example"}
BY = Signature(key=KEY)
A = ref_of("a")


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"key": KEY, "keyless": WHO},
        {"key": "ssh-ed25519 AAAA"},
        {"key": KEY.replace("PUBLIC", "PRIVATE")},
        {"authorities": KEY},
        {"keyless": {"identity": "release@acme.example"}},
        {"key": KEY, "file": "../model.sig"},
        {"key": KEY, "file": "tokenizer.sig"},
        {"key": KEY, "file": "config.json"},
    ],
)
def test_signature_is_by_one_method_in_a_file_that_does_not_cover_itself(
    wire: dict[str, Any],
) -> None:
    with pytest.raises(ValidationError):
        Signature.model_validate(wire)


def test_staged_weights_are_held_once_each_signature_was_found_on_them() -> None:
    draft = Draft(
        uri="file:///d/", digest=digest("d"), signature=Signature.model_validate({"keyless": WHO})
    )
    assert draft.signature is not None
    both = replace(A, draft=draft, signature=BY)
    agent = AgentView(
        ready=True,
        engine=EngineView(True, "e-1", draft=True),
        staged=frozenset({digest("a")}),
        drafts_staged=frozenset({digest("d")}),
    )
    assert not agent.holds(both)
    assert not replace(agent, signed=frozenset({BY.proof(digest("a"))})).holds(both)
    assert not replace(agent, signed=frozenset({BY.proof(digest("b"))})).holds(
        replace(A, signature=BY)
    )
    assert replace(agent, signed=both.proofs).holds(both)
    assert agent.holds(A)


def test_agent_that_would_drop_the_signature_is_not_asked() -> None:
    old = AgentView(ready=True, engine=EngineView(True), capabilities=frozenset())
    assert old.lacks(replace(A, signature=BY)) == CAPABILITY_SIGNATURES
    assert old.lacks(A) == ""


def signed_world(version: str, count: int, **weights: Any) -> ToyWorld:
    world = world_of(version, count, on="a")
    old = world.spec.weights
    assert old is not None
    given = {**old.model_dump(by_alias=True, exclude_none=True), "signature": {"key": KEY}}
    world.change_spec(weights=Weights.model_validate({**given, **weights}))
    return world


def run(world: ToyWorld, *ends: Phase) -> list[Any]:
    planned = [world.one_pass()]
    while planned[-1].status.phase not in ends and world.advance():
        planned.append(world.one_pass())
        assert len(planned) < 200, "it goes round in circles"
    return planned


def test_pods_that_hold_the_weights_unsigned_stage_again_before_they_swap() -> None:
    world = signed_world("b", 2)
    for pod in world.pods:
        pod.staged |= {digest("b")}
    passes = run(world, Phase.COMPLETE)
    actions = [action for each in passes for action in each.actions]
    swaps = [number for number, action in enumerate(actions) if isinstance(action, SwapPod)]
    stages = [number for number, action in enumerate(actions) if isinstance(action, Stage)]
    assert len(stages) == len(swaps) == 2
    assert stages[0] < swaps[0]
    assert passes[-1].status.updated == "2/2"


def test_another_signature_on_what_pods_serve_moves_none_of_them() -> None:
    """No byte is another one, of the weights or of their draft."""
    world = world_of("a", 2, on="a")
    own = {"uri": "file:///d/", "digest": digest("d")}
    old = world.spec.weights
    assert old is not None
    given = {**old.model_dump(by_alias=True, exclude_none=True), "digest": digest("a")}
    for pod in world.pods:
        assert pod.loaded is not None
        pod.loaded = pod.told = replace(pod.loaded, draft=Draft.model_validate(own))
    signed = {"draft": {**own, "signature": {"key": KEY}}, "signature": {"keyless": WHO}}
    world.change_spec(weights=Weights.model_validate({**given, **signed}))
    passes = run(world, Phase.COMPLETE)
    assert passes[-1].status.updated == "2/2"
    moved = [each for told in passes for each in told.actions if isinstance(each, SwapPod)]
    assert moved == []
    other = {"draft": {**own, "digest": digest("e")}}
    world.checkpoints["file:///d/"] = Checkpoint(digest("e"))
    world.change_spec(weights=Weights.model_validate({**given, **other}))
    passes = run(world, Phase.COMPLETE)
    assert [each for told in passes for each in told.actions if isinstance(each, SwapPod)]


@pytest.mark.parametrize("known", [{}, {"digest": digest("b")}], ids=["a uri", "a digest"])
@pytest.mark.parametrize("there", [False, True], ids=["to be read", "staged unsigned before"])
def test_weights_of_a_stranger_are_rejected_and_no_pod_is_taken_out(
    there: bool, known: dict[str, str]
) -> None:
    """With a digest the image that lies there looks like what was asked for, and was signed by nobody."""
    world = signed_world("b", 3, **known)
    for pod in world.pods:
        pod.staged |= {digest("b")} if there else set()
    fate = StageFate(FailureClass.WEIGHTS, "SignatureUntrusted", "not by the key")
    world.checkpoints["file:///models/b/"] = Checkpoint(digest("b"), stage=fate)
    passes = run(world, Phase.ROLLED_BACK)
    status = passes[-1].status
    assert status.phase is Phase.ROLLED_BACK
    assert "SignatureUntrusted" in status.message
    assert not [action for each in passes for action in each.actions if isinstance(action, SwapPod)]
