"""Between spec.weights.draft and its message of agent.proto. Pure."""

from weightrollout.api.spec import FROM_TARGET, Draft
from weightrollout.wire.agent import agent_pb2 as pb


def draft_of(message: pb.Weights) -> Draft | None:
    """Raises ValueError: it has neither form."""
    if not message.HasField("draft"):
        return None
    said = message.draft
    if said.from_target:
        return FROM_TARGET
    return Draft(uri=said.uri, digest=said.digest)


def wire_draft(draft: Draft | None) -> pb.Draft | None:
    if draft is None:
        return None
    return pb.Draft(
        from_target=draft.from_ is not None, uri=draft.uri or "", digest=draft.digest or ""
    )
