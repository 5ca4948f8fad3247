"""What a spec says of its draft arrives at the agent, and comes back, as it was said."""

import json
from pathlib import Path

import pytest

from weightrollout.agent import stable as agent_stable
from weightrollout.agent import wire_form
from weightrollout.agent.reasons import Refused
from weightrollout.agent.stable import Stable as ReadStable
from weightrollout.api.names import STABLE_KEY
from weightrollout.api.spec import FROM_TARGET, Draft, Metadata
from weightrollout.controller.agent_view import NotUnderstood, agent_view, ref_of
from weightrollout.controller.calls import wire_weights
from weightrollout.kube.configmaps import Stable, stable_text, trim_stable
from weightrollout.rollout.fleet import Ref
from weightrollout.swap.records import Content
from weightrollout.wire.agent import agent_pb2 as pb

DIGEST = "sha256:" + "a" * 64
OWN = Draft.model_validate({"uri": "file:///d/", "digest": "sha256:" + "d" * 64})
DRAFTS = [None, FROM_TARGET, OWN]


@pytest.mark.parametrize("metadata", Metadata)
@pytest.mark.parametrize("draft", DRAFTS)
def test_draft_goes_to_the_agent_and_back(draft: Draft | None, metadata: Metadata) -> None:
    ref = Ref("chat-1", "v1", "file:///m/", DIGEST, metadata, draft)
    content = wire_form.content(wire_weights(ref))
    assert content == Content("chat-1", "v1", "file:///m/", DIGEST, metadata, draft)
    assert ref_of(wire_form.weights(content)) == ref


@pytest.mark.parametrize("said", [pb.Draft(), pb.Draft(uri="file:///d/"), pb.Draft(digest=DIGEST)])
def test_half_a_draft_is_refused_by_both_sides(said: pb.Draft) -> None:
    message = pb.Weights(revision="r", version="v1", uri="file:///m/", digest=DIGEST, draft=said)
    with pytest.raises(Refused, match="no draft"):
        wire_form.content(message)
    with pytest.raises(NotUnderstood, match="draft"):
        ref_of(message)


def test_what_an_agent_says_of_its_draft_is_seen() -> None:
    seen = agent_view(
        pb.AgentState(
            drafts_staged=[DIGEST],
            degraded_reason="DraftFailed",
            degraded_message="x" * 5000,
            engine=pb.EngineState(draft=True),
        )
    )
    assert seen.drafts_staged == frozenset({DIGEST})
    assert seen.degraded_reason == "DraftFailed"
    assert len(seen.degraded_message) < 2000
    assert seen.engine.draft


@pytest.mark.parametrize("metadata", Metadata)
@pytest.mark.parametrize("draft", DRAFTS)
def test_pods_find_the_draft_of_the_stable_version_without_the_operator(
    tmp_path: Path, draft: Draft | None, metadata: Metadata
) -> None:
    said = "" if metadata is Metadata.REQUIRE else "Ignore"
    text = stable_text(Stable("cr", 3, "chat-1", "v1", "file:///m/", DIGEST, said, draft))
    assert ("draft" in json.loads(text)) == (draft is not None)
    (tmp_path / STABLE_KEY).write_text(text)
    content = Content("chat-1", "v1", "file:///m/", DIGEST, metadata, draft)
    assert agent_stable.read(tmp_path) == ReadStable(content, "cr", 3)
    about = {"name": "chat.weightrollout", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    read = trim_stable({"metadata": about, "data": {STABLE_KEY: text}})
    assert (read.metadata, read.draft) == (said, draft)


def test_draft_that_cannot_be_read_takes_no_pod_out(tmp_path: Path) -> None:
    text = stable_text(Stable("cr", 3, "chat-1", "v1", "file:///m/", DIGEST))
    for spoilt in ("x", {}, {"from": "Moon"}, {"uri": "ftp://d/", "digest": DIGEST}):
        (tmp_path / STABLE_KEY).write_text(json.dumps({**json.loads(text), "draft": spoilt}))
        read = agent_stable.read(tmp_path)
        assert read.content == Content("chat-1", "v1", "file:///m/", DIGEST)
