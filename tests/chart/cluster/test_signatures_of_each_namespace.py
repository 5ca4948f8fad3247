"""What the chart's `signatures.required` lets an API server take: weights that name an allowed signer, and no others."""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

import pytest
import yaml

from fleet.world import CRD_FILE
from helm.chart import SETS, one, rendered
from helm.sources import rollout, why_refused
from localcluster.api import Api
from localcluster.waiting import eventually

Json = dict[str, Any]

URI: Final = "file:///models/chat/1/"
SOON_S: Final = 30.0
KEY: Final = "-----BEGIN PUBLIC KEY-----\nMFkw\nEwYH==\n-----END PUBLIC KEY-----\n"
OTHER: Final = KEY.replace("MFkw", "MFkx")
WHO: Final = {"identity": "release@acme.example", "issuer": "https://issuer.example"}


async def is_refused(api: Api, namespace: str) -> bool:
    return await why_refused(api, namespace, URI) != ""


@pytest.fixture(autouse=True)
async def policy(api: Api, namespace: str) -> AsyncIterator[None]:
    """`namespace` wants KEY or WHO; no other namespace wants any."""
    await api.apply(yaml.safe_load(CRD_FILE.read_text()))
    required = {"serving": None, "*": None, namespace: [{"key": KEY}, {"keyless": WHO}]}
    said = f"--set-json=signatures.required={json.dumps(required)}"
    objects = rendered(SETS["signatures"], said, namespace=namespace)
    made = [one(objects, f"ValidatingAdmissionPolicy{each}") for each in ("", "Binding")]
    for each in made:
        await api.apply(each)
    try:
        await eventually(partial(is_refused, api, namespace), SOON_S, "it is in force")
        yield
    finally:
        for each in reversed(made):
            await api.delete(await api.path_of(each))


async def why(api: Api, namespace: str, signature: Json | None, **weights: Any) -> str:
    given = {} if signature is None else {"signature": signature}
    return await why_refused(api, namespace, URI, **given, **weights)


async def test_weights_of_a_namespace_must_name_a_signer_that_it_allows(
    api: Api, namespace: str
) -> None:
    assert "SignatureRequired" in await why(api, namespace, None)
    for good in (
        {"key": KEY},
        {"key": f"\n{KEY.replace(chr(10), chr(13) + chr(10))}"},  # as another editor has it
        {"key": KEY, "file": "release.sig"},
        {"keyless": WHO},
    ):
        assert not await why(api, namespace, good), good
    for bad in (
        {"key": OTHER},
        {"keyless": {**WHO, "identity": "release@acme.example.org"}},
        {"keyless": {**WHO, "issuer": "https://issuer.example/"}},
        {"authorities": KEY.replace("PUBLIC KEY", "CERTIFICATE")},
    ):
        assert "SignerNotAllowed" in await why(api, namespace, bad), bad
    assert not await why(api, "default", None)
    assert not await why(api, "default", {"key": OTHER})


async def test_draft_of_its_own_checkpoint_is_held_to_the_same(api: Api, namespace: str) -> None:
    own = {"uri": "file:///models/draft/", "digest": "sha256:" + "0" * 64}
    by = {"key": KEY}
    assert "SignatureRequired" in await why(api, namespace, by, draft=own)
    other = {**own, "signature": {"key": OTHER}}
    assert "SignerNotAllowed" in await why(api, namespace, by, draft=other)
    assert not await why(api, namespace, by, draft={**own, "signature": by})
    assert not await why(api, namespace, by, draft={"from": "Target"})


async def test_rollout_that_asks_for_no_weights_needs_no_signature(
    api: Api, namespace: str
) -> None:
    nothing = rollout(namespace, URI)
    del nothing["spec"]["weights"]
    assert await api.apply(nothing)
