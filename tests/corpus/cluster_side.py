"""Judges of what others write into the cluster's objects, and of what an agent says of itself."""

import json
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format

from weightrollout import reading
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.controller import agent_view, observe
from weightrollout.controller.refused import refused_status
from weightrollout.kube.configmaps import trim_stable
from weightrollout.kube.pods import trim_pod
from weightrollout.kube.podwrites import Ours, apply_body
from weightrollout.kube.revisions import trim_revision
from weightrollout.reading import InvalidSpec
from weightrollout.rollout.fleet import AgentView, Fleet, PodView, Ref, Revision
from weightrollout.rollout.plan import plan
from weightrollout.wire.agent import agent_pb2 as pb

WALL: Final = "2026-11-29T12:00:00Z"
METADATA: Final = {"namespace": "ns", "name": "chat-1", "uid": "u-1", "resourceVersion": "7"}
TARGET: Final = Ref("chat-1", "v1", "file:///m/", "sha256:" + "1" * 64)
SPEC: Final = {"weights": {"version": "v1", "uri": "file:///m/", "digest": TARGET.digest}}


def published(data: bytes, _: Path) -> str:
    """The operator reads its own ConfigMap back; what was spoilt is written again."""
    text = data.decode(errors="replace")
    body = {"metadata": METADATA, "data": {"stable.json": text}}
    return "Nothing" if reading.published(trim_stable(body)) is None else "Something"


def swap_annotation(data: bytes, _: Path) -> str:
    return "Note" if reading.put_in_txn(data.decode(errors="replace")) else "Nothing"


def revision(data: bytes, _: Path) -> str:
    """`data` is the whole object but for its identity."""
    said = json.loads(data)
    labels = {"weightrollout.dev/name": "chat"}
    metadata = {**METADATA, "labels": labels, **said.pop("metadata", {})}
    record = trim_revision({"revision": 1, **said, "metadata": metadata})
    if record.owner_uid not in ("", "cr-uid") or not (record.version and record.uri):
        return "Foreign"
    reading.revision_of(record)
    return "Ours"


def pod(data: bytes, _: Path) -> str:
    """`data` is the status and the annotations, which others write as well."""
    said = json.loads(data)
    metadata = {**METADATA, **said.pop("metadata", {})}
    spec = {"containers": [{"name": "weightrollout-agent"}], **said.pop("spec", {})}
    found = trim_pod({"metadata": metadata, "spec": spec, **said})
    observe.pod_view(found, None)
    json.dumps(apply_body(found, Ours(found.version_label, found.swap_annotation, found.gate)))
    if found.gate is None:
        return "NoGate"
    assert isinstance(found.gate.since, str)
    return "Open" if found.gate.open else "Shut"


def spec(data: bytes, _: Path) -> str:
    body = {"spec": json.loads(data)}
    try:
        read = reading.read_spec(body)
    except InvalidSpec as wrong:
        _sendable(refused_status(WeightRolloutStatus(), 1, 1, str(wrong), WALL))
        return "InvalidSpec"
    return _planned(read, None)


def agent_state(data: bytes, _: Path) -> str:
    """What it says is planned with, and becomes a status that an API server takes."""
    state = json_format.Parse(data, pb.AgentState())
    try:
        view = agent_view.agent_view(pb.AgentState.FromString(state.SerializeToString()))
    except ValueError:
        return "NotUnderstood"  # the link shows the agent as unreachable
    return _planned(WeightRolloutSpec.model_validate(SPEC), view)


def _planned(spec: WeightRolloutSpec, view: AgentView | None) -> str:
    pods = () if view is None else (_pod(view),)
    fleet = Fleet(
        namespace="ns",
        name="chat",
        uid="cr-uid",
        generation=1,
        spec=spec,
        status=WeightRolloutStatus(),
        revisions=(Revision(TARGET, 1, digest_given=True),),
        pods=pods,
        work=frozenset(),
        now=100.0,
        wall=WALL,
        epoch=3,
    )
    status = plan(fleet).status
    _sendable(status)
    return str(status.phase)


def _pod(view: AgentView) -> PodView:
    return PodView(
        name="chat-0",
        uid="pod-uid",
        agent=view,
        ready=True,
        running=True,
        terminating=False,
        gated=False,
        gate_open=None,
        version_label="",
        put_in_txn="",
    )


def _sendable(status: WeightRolloutStatus) -> None:
    """Strict JSON, whole numbers of 64 bits, and far from etcd's 1.5 MB."""
    wire = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    text = json.dumps(wire, allow_nan=False, ensure_ascii=False).encode()
    assert len(text) < 200_000, len(text)
    _check_numbers(wire)


def _check_numbers(value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            _check_numbers(each)
    elif isinstance(value, int):
        assert -(1 << 63) <= value < 1 << 63
