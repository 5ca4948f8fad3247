"""The API server refuses a spec that cannot work, with a message that says what to do."""

from typing import Any, Final

import pytest
import yaml

from crd_install import collection, install_crd, weight_rollout
from localcluster.api import Api, ApiError
from weightrollout.api.rules import RULES
from weightrollout.cli.lint.check import ERROR, Finding, findings_of

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

GOOD: Json = {"weights": {"version": "v2", "uri": "file:///models/chat/step-1200/"}}

PROMPT = "spec.verify.prompts[]"
OWN_DRAFT: Json = {"uri": "file:///models/draft/", "digest": f"sha256:{'0' * 64}"}

SIGNED: Json = {"keyless": {"identity": "release@acme.example", "issuer": "https://issuer/"}}


def expecting(expect: Json) -> Json:
    return {"verify": {"prompts": [{"prompt": "2+2=", "maxTokens": 4, "expect": expect}]}}


def canary(*steps: Json) -> Json:
    return {"strategy": {"steps": list(steps)}}


ANALYSIS: Final = "spec.strategy.steps[].analysis"
QUERY: Final[Json] = {"prometheus": {"query": "up", "max": 1}}
WEBHOOK: Final[Json] = {"webhook": {"url": "http://judge/"}}


def measured(analysis: Json) -> Json:
    return canary({"analysis": analysis})


def bounded(query: str = "up", **fields: Any) -> Json:
    return measured({"prometheus": {"query": query, **fields}})


#: What is wrong with a spec, and which rule must say so: (path, number of the rule there).
REFUSED: dict[str, tuple[Json, str, int]] = {
    "deadline shorter than drain and settling": (
        {"swap": {"drainSeconds": 50, "settleSeconds": 10}, "podDeadlineSeconds": 60},
        "spec",
        0,
    ),
    "deadline shorter than the drain nobody set": ({"podDeadlineSeconds": 62}, "spec", 0),
    "deadline shorter than a drain in training": (
        {"profile": "Training", "swap": {"drainSeconds": 70}, "podDeadlineSeconds": 72},
        "spec",
        0,
    ),
    "rollout deadline no longer than a pod's": ({"progressDeadlineSeconds": 300}, "spec", 1),
    "version that is no label value": (
        {"weights": {**GOOD["weights"], "version": "v2-"}},
        "spec.weights.version",
        0,
    ),
    "version with a space": (
        {"weights": {**GOOD["weights"], "version": "step 1200"}},
        "spec.weights.version",
        0,
    ),
    "empty version": ({"weights": {**GOOD["weights"], "version": ""}}, "spec.weights.version", 0),
    "version of base weights": (
        {"weights": {**GOOD["weights"], "version": "default"}},
        "spec.weights.version",
        1,
    ),
    "source that is not known": (
        {"weights": {**GOOD["weights"], "uri": "ftp://models/chat/"}},
        "spec.weights.uri",
        0,
    ),
    "key in a uri": (
        {"weights": {**GOOD["weights"], "uri": "s3://key:secret@models/chat/"}},
        "spec.weights.uri",
        0,
    ),
    "signature in a uri": (
        {"weights": {**GOOD["weights"], "uri": "https://host/chat/?X-Amz-Signature=0"}},
        "spec.weights.uri",
        0,
    ),
    "relative file": (
        {"weights": {**GOOD["weights"], "uri": "file://models/chat"}},
        "spec.weights.uri",
        0,
    ),
    "digest in capitals": (
        {"weights": {**GOOD["weights"], "digest": f"sha256:{'A' * 64}"}},
        "spec.weights.digest",
        0,
    ),
    "digest cut short": (
        {"weights": {**GOOD["weights"], "digest": f"sha256:{'a' * 63}"}},
        "spec.weights.digest",
        0,
    ),
    "draft of both forms": (
        {"weights": {**GOOD["weights"], "draft": {"from": "Target", **OWN_DRAFT}}},
        "spec.weights.draft",
        0,
    ),
    "draft of no form": (
        {"weights": {**GOOD["weights"], "draft": {}}},
        "spec.weights.draft",
        0,
    ),
    "draft without a digest": (
        {"weights": {**GOOD["weights"], "draft": {"uri": "file:///d/"}}},
        "spec.weights.draft",
        0,
    ),
    "draft in a source that is not known": (
        {"weights": {**GOOD["weights"], "draft": {**OWN_DRAFT, "uri": "ftp://d/"}}},
        "spec.weights.draft.uri",
        0,
    ),
    "digest of a draft cut short": (
        {"weights": {**GOOD["weights"], "draft": {**OWN_DRAFT, "digest": "sha256:0"}}},
        "spec.weights.draft.digest",
        0,
    ),
    "signature by nobody": (
        {"weights": {**GOOD["weights"], "signature": {}}},
        "spec.weights.signature",
        0,
    ),
    "signature in a file that it covers": (
        {"weights": {**GOOD["weights"], "signature": {**SIGNED, "file": "tokenizer.sig"}}},
        "spec.weights.signature.file",
        0,
    ),
    "signature elsewhere": (
        {"weights": {**GOOD["weights"], "signature": {**SIGNED, "file": "../model.sig"}}},
        "spec.weights.signature.file",
        0,
    ),
    "signature by a key that is none": (
        {
            "weights": {
                **GOOD["weights"],
                "signature": {
                    "key": "-----BEGIN PRIVATE KEY-----\nMFkw\n-----END PRIVATE KEY-----\n"
                },
            }
        },
        "spec.weights.signature.key",
        0,
    ),
    "signature by authorities that are none": (
        {"weights": {**GOOD["weights"], "signature": {"authorities": "release.pem"}}},
        "spec.weights.signature.authorities",
        0,
    ),
    "signature of a draft by a key that is none": (
        {
            "weights": {
                **GOOD["weights"],
                "draft": {
                    **OWN_DRAFT,
                    "signature": {
                        "key": "-----BEGIN PRIVATE KEY-----\nMFkw\n-----END PRIVATE KEY-----\n"
                    },
                },
            }
        },
        "spec.weights.draft.signature.key",
        0,
    ),
    "signature of a draft by authorities that are none": (
        {
            "weights": {
                **GOOD["weights"],
                "draft": {**OWN_DRAFT, "signature": {"authorities": "release.pem"}},
            }
        },
        "spec.weights.draft.signature.authorities",
        0,
    ),
    "signature of a draft by nobody": (
        {"weights": {**GOOD["weights"], "draft": {**OWN_DRAFT, "signature": {}}}},
        "spec.weights.draft.signature",
        0,
    ),
    "signature of a draft in a file that it covers": (
        {
            "weights": {
                **GOOD["weights"],
                "draft": {**OWN_DRAFT, "signature": {**SIGNED, "file": "chat_template.sig"}},
            }
        },
        "spec.weights.draft.signature.file",
        0,
    ),
    "signature of a draft in the same checkpoint": (
        {"weights": {**GOOD["weights"], "draft": {"from": "Target", "signature": SIGNED}}},
        "spec.weights.draft",
        1,
    ),
    "staging percentage over 100": (
        {"staging": {"maxConcurrent": "101%"}},
        "spec.staging.maxConcurrent",
        0,
    ),
    "staging on nothing": ({"staging": {"maxConcurrent": 0}}, "spec.staging.maxConcurrent", 1),
    **{
        f"limit of {most!r}": (
            {"staging": {"maxBytesPerSecond": most}},
            "spec.staging.maxBytesPerSecond",
            0,
        )
        for most in (0, 65535, "65535", "64k", "1025Gi", "1Ti", "1.5Mi", "100m", "-1Mi", "")
    },
    "budget without a sign": (
        {"strategy": {"maxUnavailable": "25"}},
        "spec.strategy.maxUnavailable",
        0,
    ),
    "negative budget": ({"strategy": {"maxUnavailable": -1}}, "spec.strategy.maxUnavailable", 0),
    "no budget": ({"strategy": {"maxUnavailable": 0}}, "spec.strategy.maxUnavailable", 1),
    "no budget in percent": (
        {"strategy": {"maxUnavailable": "00%"}},
        "spec.strategy.maxUnavailable",
        1,
    ),
    "prompt that expects nothing": (expecting({}), f"{PROMPT}.expect", 0),
    "prompt that expects two things": (
        expecting({"contains": "4", "regex": "4"}),
        f"{PROMPT}.expect",
        0,
    ),
    "pattern that looks ahead": (expecting({"regex": "(?=4)"}), f"{PROMPT}.expect.regex", 0),
    "pattern that refers back": (expecting({"regex": r"(4)\1"}), f"{PROMPT}.expect.regex", 0),
    "pattern that does not close": (expecting({"regex": "(4"}), f"{PROMPT}.expect.regex", 0),
    "more token ids than the answer has": (expecting({"tokenIds": [1] * 5}), PROMPT, 0),
    "step of two kinds": (canary({"updated": 1, "pause": {}}), "spec.strategy.steps[]", 0),
    "step of no kind": (canary({}), "spec.strategy.steps[]", 0),
    "step at no pod": (canary({"updated": "0%"}), "spec.strategy.steps[].updated", 1),
    "step in tenths": (canary({"updated": "0.5%"}), "spec.strategy.steps[].updated", 0),
    "analysis of nothing": (measured({}), ANALYSIS, 0),
    "analysis of two kinds": (measured({**QUERY, **WEBHOOK}), ANALYSIS, 0),
    "analysis that cannot fail": (measured({**WEBHOOK, "failureLimit": 1}), ANALYSIS, 1),
    "query without bounds": (bounded(), f"{ANALYSIS}.prometheus", 0),
    "bounds that no value keeps": (bounded(min=2, max=1), f"{ANALYSIS}.prometheus", 1),
    "bad below nothing": (bounded(max=1, failBelow=0), f"{ANALYSIS}.prometheus", 2),
    "good and bad below": (bounded(min=1, failBelow=1.5), f"{ANALYSIS}.prometheus", 2),
    "bad above nothing": (bounded(min=1, failAbove=2), f"{ANALYSIS}.prometheus", 3),
    "good and bad above": (bounded(max=1, failAbove=0.5), f"{ANALYSIS}.prometheus", 3),
    "argument that there is not": (
        bounded(max=1, query='up{pod=~"$(pod)"}'),
        f"{ANALYSIS}.prometheus.query",
        0,
    ),
    "argument without end": (bounded(max=1, query="up $(pods"), f"{ANALYSIS}.prometheus.query", 0),
    "prometheus without scheme": (
        bounded(max=1, address="prometheus:9090"),
        f"{ANALYSIS}.prometheus.address",
        0,
    ),
    "password in a URL": (
        measured({"webhook": {"url": "https://user:word@judge/"}}),
        f"{ANALYSIS}.webhook.url",
        0,
    ),
    "fraction of a percent": (
        {"strategy": {"maxFailed": "0.5%"}},
        "spec.strategy.maxFailed",
        0,
    ),
}

#: Where the message is computed.
COMPUTED: dict[str, str] = {
    "deadline shorter than drain and settling": 'spec.podDeadlineSeconds: Invalid value: "object": must be more than'
    " spec.swap.drainSeconds + spec.swap.settleSeconds = 60, else no swap can end in time, got: 60;"
    " raise it, or drain for less",
    "deadline shorter than the drain nobody set": "= 62, else no swap can end in time, got: 62",
    "deadline shorter than a drain in training": "= 72, else no swap can end in time, got: 72",
    "rollout deadline no longer than a pod's": "spec.progressDeadlineSeconds: Invalid value:"
    ' "object": must be more than spec.podDeadlineSeconds = 300, else one slow pod stalls the'
    " rollout, got: 300; raise it",
}


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


async def refusal(api: Api, namespace: str, name: str, spec: Json) -> str:
    manifest = weight_rollout(name, spec)
    with pytest.raises(ApiError) as refused:
        await api.create(collection(namespace), manifest, fieldValidation="Strict", dryRun="All")
    assert refused.value.status == 422
    return str(refused.value)


def linted(name: str, spec: Json) -> list[Finding]:
    """What lint says is wrong, without any API server."""
    found = findings_of("a file", yaml.safe_dump(weight_rollout(name, spec)))
    return [each for each in found if each.severity == ERROR]


@pytest.mark.parametrize("case", REFUSED)
async def test_a_spec_that_cannot_work_is_refused_with_its_reason(
    api: Api, namespace: str, case: str
) -> None:
    wrong, path, number = REFUSED[case]
    said = await refusal(api, namespace, "chat", {**GOOD, **wrong})
    rule = RULES[path][number]
    assert rule.field or path.replace("[]", "[0]") in said
    assert COMPUTED.get(case, rule.message) in said
    offline = [each.message for each in linted("chat", {**GOOD, **wrong})]
    assert any(message in said for message in offline), offline


async def test_a_name_too_long_for_our_objects_is_refused(api: Api, namespace: str) -> None:
    said = await refusal(api, namespace, "c" * 53, GOOD)
    assert RULES[""][0].message in said
    assert [each.message for each in linted("c" * 53, GOOD)] == [RULES[""][0].message]


async def test_everything_wrong_is_said_at_once(api: Api, namespace: str) -> None:
    wrong = {
        "weights": {"version": "default", "uri": "ftp://models/", "digest": "md5:0"},
        "strategy": {"maxUnavailable": 0},
        "progressDeadlineSeconds": 300,
    }
    said = await refusal(api, namespace, "chat", wrong)
    for field in ("weights.version", "weights.uri", "weights.digest", "strategy.maxUnavailable"):
        assert f"spec.{field}: " in said
    assert "spec.progressDeadlineSeconds: " in said


async def test_a_field_that_is_not_there_yet_is_refused(api: Api, namespace: str) -> None:
    manifest = weight_rollout("chat", {**GOOD, "autoscaler": "Operator"})
    with pytest.raises(ApiError, match=r"unknown field \\?\"spec.autoscaler"):
        await api.create(collection(namespace), manifest, fieldValidation="Strict", dryRun="All")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(GOOD, id="the smallest"),
        pytest.param({}, id="weights left to a trainer"),
        *(
            pytest.param({**GOOD, "staging": {"maxBytesPerSecond": most}}, id=f"limit of {most!r}")
            for most in (65536, 1 << 40, "64Ki", "100Mi", "100M", "1024Gi")
        ),
        pytest.param(
            {**GOOD, "strategy": {"maxUnavailable": "100%", "maxFailed": 0}}, id="edges of percent"
        ),
        pytest.param(
            {**GOOD, "swap": {"drainSeconds": 0}, "podDeadlineSeconds": 10}, id="no drain"
        ),
        pytest.param(
            {**GOOD, "profile": "Training", "podDeadlineSeconds": 10}, id="no drain in training"
        ),
        pytest.param({**GOOD, **expecting({"regex": r"^\s*(?i:four|4)\b"})}, id="a pattern"),
        pytest.param({**GOOD, **expecting({"tokenIds": [19, 0, 2**31 - 1]})}, id="token ids"),
        pytest.param({"weights": {**GOOD["weights"], "metadata": "Ignore"}}, id="own metadata"),
        *(
            pytest.param({"weights": {**GOOD["weights"], "uri": uri}}, id=uri)
            for uri in (
                *(
                    "s3://models/chat/1200/",
                    "gs://models/chat/",
                    "az://models",
                    "hf://org/chat@main",
                ),
                "https://models.example.com:8443/chat/1200/",
            )
        ),
        pytest.param(
            {"weights": {**GOOD["weights"], "digest": f"sha256:{'0' * 64}"}}, id="pinned digest"
        ),
        pytest.param(
            {"weights": {**GOOD["weights"], "draft": {"from": "Target"}}}, id="draft of the target"
        ),
        pytest.param({"weights": {**GOOD["weights"], "draft": OWN_DRAFT}}, id="draft of its own"),
    ],
)
async def test_a_good_spec_is_accepted(api: Api, namespace: str, spec: Json) -> None:
    manifest = weight_rollout("c" * 52, spec)
    await api.create(collection(namespace), manifest, fieldValidation="Strict", dryRun="All")
    assert linted("c" * 52, spec) == []


def test_every_rule_is_tried() -> None:
    tried = {(path, number) for _, path, number in REFUSED.values()} | {("", 0)}
    assert tried == {(path, number) for path, all_ in RULES.items() for number in range(len(all_))}
