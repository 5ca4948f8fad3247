"""Between spec.weights.draft and .signature and their messages of agent.proto. Pure."""

from weightrollout.api.signature import Keyless, Signature
from weightrollout.api.spec import FROM_TARGET, Draft
from weightrollout.wire.agent import agent_pb2 as pb


def draft_of(message: pb.Weights) -> Draft | None:
    """Raises ValueError: it has neither form."""
    if not message.HasField("draft"):
        return None
    said = message.draft
    if said.from_target:
        return FROM_TARGET
    return Draft(uri=said.uri, digest=said.digest, signature=signature_of(said))


def wire_draft(draft: Draft | None) -> pb.Draft | None:
    if draft is None:
        return None
    return pb.Draft(
        from_target=draft.from_ is not None,
        uri=draft.uri or "",
        digest=draft.digest or "",
        signature=wire_signature(draft.signature),
    )


def signature_of(message: pb.Weights | pb.Draft) -> Signature | None:
    """Raises ValueError: what cannot be checked must not count for none."""
    if not message.HasField("signature"):
        return None
    said = message.signature
    keyless = said.identity or said.issuer
    return Signature(
        file=said.file,
        key=said.key or None,
        authorities=said.authorities or None,
        keyless=Keyless(identity=said.identity, issuer=said.issuer) if keyless else None,
    )


def wire_signature(signature: Signature | None) -> pb.Signature | None:
    if signature is None:
        return None
    keyless = signature.keyless
    return pb.Signature(
        file=signature.file,
        key=signature.key or "",
        authorities=signature.authorities or "",
        identity=keyless.identity if keyless is not None else "",
        issuer=keyless.issuer if keyless is not None else "",
    )
