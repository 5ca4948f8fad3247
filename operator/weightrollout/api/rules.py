"""Checks that the API server makes, as CEL, with messages that say what to do.

They cover what a schema cannot say, or says without help ("should match '^[A-Z...'"): where a rule
stands here, the type's own pattern is left out of the CRD. All of them see the object after the
schema's defaults, so a field with a default there is always present.
"""

from dataclasses import dataclass
from typing import Final

from weightrollout.api.analysis import ARGUMENT_PATTERN, ARGUMENTS, HTTP_PATTERN, ONE_SOURCE
from weightrollout.api.names import BASELINE_VERSION, MAX_NAME_LENGTH
from weightrollout.api.profiles import TRAINING
from weightrollout.api.quantity import BYTES, LEAST_RATE, MOST_RATE, PERCENT
from weightrollout.api.signature import (
    AUTHORITIES_PATTERN,
    COUNTED_PATTERN,
    FILE_PATTERN,
    KEY_PATTERN,
    ONE_METHOD,
)
from weightrollout.api.spec import (
    DIGEST_PATTERN,
    ONE_EXPECTATION,
    ONE_KIND,
    URI_PATTERN,
    VERSION_PATTERN,
    Profile,
    Swap,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`message` has a %d for each of `numbers`, which are CEL expressions like `rule`."""

    rule: str
    message: str
    numbers: tuple[str, ...] = ()
    field: str = ""  # below the rule's place: where people must look

    def as_schema(self) -> dict[str, str]:
        schema = {"rule": self.rule}
        if self.numbers:
            # format() has a bounded cost; string concatenation is over CEL's budget.
            schema["messageExpression"] = (
                f"{_quoted(self.message)}.format([{', '.join(self.numbers)}])"
            )
        else:
            schema["message"] = self.message
        if self.field:
            schema["fieldPath"] = self.field
        return schema


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Its schema has no default: the profile chooses it.
_DRAIN: Final = (
    "(has(self.swap.drainSeconds) ? self.swap.drainSeconds"
    f" : self.profile == '{Profile.TRAINING}' ? {TRAINING['swap']['drain_seconds']}"
    f" : {Swap.model_fields['drain_seconds'].default})"
)

INT_OR_PERCENT: Final = Rule(
    rule=f"type(self) == int ? self >= 0 : self.matches({_quoted(PERCENT.pattern)})",
    message="must be a whole number of pods, such as 2, or a percentage from 0% to 100%, such as 25%",
)

_URI: Final = Rule(
    rule=f"self.matches({_quoted(URI_PATTERN)})",
    message="give the folder as the agents see it, such as file:///models/chat/step-1200/ or"
    " s3://models/chat/step-1200/ (also gs, az, https, hf), without user, '?' and '#'",
)

_ONE_METHOD: Final = Rule(
    rule="[has(self.key), has(self.authorities), has(self.keyless)].filter(given, given).size() == 1",
    message=f"{ONE_METHOD}: what the signature is checked with",
)
_SIGNATURE_FILE: Final = Rule(
    rule=f"self.matches({_quoted(FILE_PATTERN)}) && !self.matches({_quoted(COUNTED_PATTERN)})",
    message="must be the name of a file in the folder of the weights that ends in .sig and does not"
    " begin like a tokenizer's or a chat template's, which are signed themselves: model.sig",
)
_KEY: Final = Rule(
    rule=f"self.matches({_quoted(KEY_PATTERN)})",
    message="must be the PEM of one public key, which begins with -----BEGIN PUBLIC KEY-----:"
    " 'openssl ec -in release.key -pubout' prints it",
)
_AUTHORITIES: Final = Rule(
    rule=f"self.matches({_quoted(AUTHORITIES_PATTERN)})",
    message="must be the PEM of certificates, each of which begins with -----BEGIN CERTIFICATE-----",
)

_HTTP: Final = Rule(
    rule=f"self.matches({_quoted(HTTP_PATTERN)})",
    message="must be a URL with http or https and without user and password, such as"
    " http://prometheus.monitoring:9090",
)

#: As a list of CEL.
_ARGUMENTS: Final = "[" + ", ".join(_quoted(f"$({name})") for name in ARGUMENTS) + "]"

#: By path in the object; "[]" is an item of a list.
RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "": (
        Rule(
            rule=f"self.metadata.name.size() <= {MAX_NAME_LENGTH}",
            message=f"metadata.name may have at most {MAX_NAME_LENGTH} characters, because names of"
            " the objects that belong to it are made of it: choose a shorter name",
        ),
    ),
    "spec": (
        Rule(
            rule=f"self.podDeadlineSeconds > {_DRAIN} + self.swap.settleSeconds",
            message="must be more than spec.swap.drainSeconds + spec.swap.settleSeconds = %d, else"
            " no swap can end in time, got: %d; raise it, or drain for less",
            numbers=(f"{_DRAIN} + self.swap.settleSeconds", "self.podDeadlineSeconds"),
            field=".podDeadlineSeconds",
        ),
        Rule(
            rule="self.progressDeadlineSeconds > self.podDeadlineSeconds",
            message="must be more than spec.podDeadlineSeconds = %d, else one slow pod stalls the"
            " rollout, got: %d; raise it",
            numbers=("self.podDeadlineSeconds", "self.progressDeadlineSeconds"),
            field=".progressDeadlineSeconds",
        ),
    ),
    "spec.weights.version": (
        Rule(
            rule=f"self.matches({_quoted(VERSION_PATTERN)})",
            message="must be usable as a label value: letters, digits, '-', '_' and '.', with a"
            " letter or digit first and last, such as 2026-11-29.1",
        ),
        Rule(
            rule=f"self != '{BASELINE_VERSION}'",
            message=f"'{BASELINE_VERSION}' is what an engine calls the weights it starts with, so"
            " it cannot name others: choose another version, such as 2026-11-29.1",
        ),
    ),
    "spec.weights.uri": (_URI,),
    "spec.weights.draft": (
        Rule(
            rule="has(self.from) ? !has(self.uri) && !has(self.digest)"
            " : has(self.uri) && has(self.digest)",
            message="give exactly one form: from: Target where the draft lies in the same"
            " checkpoint, or uri and digest of the draft's own; without any draft leave it out",
        ),
        Rule(
            rule="!has(self.from) || !has(self.signature)",
            message="a draft of the same checkpoint is covered by spec.weights.signature: leave its"
            " own out",
            field=".signature",
        ),
    ),
    "spec.weights.draft.signature": (_ONE_METHOD,),
    "spec.weights.draft.signature.file": (_SIGNATURE_FILE,),
    "spec.weights.draft.signature.key": (_KEY,),
    "spec.weights.draft.signature.authorities": (_AUTHORITIES,),
    "spec.weights.signature": (_ONE_METHOD,),
    "spec.weights.signature.file": (_SIGNATURE_FILE,),
    "spec.weights.signature.key": (_KEY,),
    "spec.weights.signature.authorities": (_AUTHORITIES,),
    "spec.weights.draft.uri": (_URI,),
    "spec.weights.draft.digest": (
        Rule(
            rule=f"self.matches({_quoted(DIGEST_PATTERN)})",
            message="must be sha256: and 64 lower-case hex digits; print it with 'kubectl"
            " weightrollout digest PATH'",
        ),
    ),
    "spec.weights.digest": (
        Rule(
            rule=f"self.matches({_quoted(DIGEST_PATTERN)})",
            message="must be sha256: and 64 lower-case hex digits; print it with 'kubectl"
            " weightrollout digest PATH', or leave it out and the operator pins what it finds",
        ),
    ),
    "spec.staging.maxConcurrent": (
        INT_OR_PERCENT,
        Rule(
            rule="type(self) == int ? self != 0 : !self.matches('^0+%$')",
            message="0 would stage on no pod: use 1 or more, or 1% or more; to start nothing set"
            " spec.mode to Suspended",
        ),
    ),
    "spec.staging.maxBytesPerSecond": (
        Rule(
            rule=f"type(self) == int ? self >= {LEAST_RATE} && self <= {MOST_RATE}"
            f" : self.matches({_quoted(BYTES.pattern)})"
            f" && quantity(self).compareTo(quantity('{LEAST_RATE}')) >= 0"
            f" && quantity(self).compareTo(quantity('{MOST_RATE}')) <= 0",
            message="must be bytes per second from 64Ki to 1024Gi, such as 100Mi; leave it out to"
            " read as fast as they come",
        ),
    ),
    "spec.strategy.maxUnavailable": (
        INT_OR_PERCENT,
        Rule(
            rule="type(self) == int ? self != 0 : !self.matches('^0+%$')",
            message="0 would let no pod swap: use 1 or more, or 1% or more (it rounds down to at"
            " least one pod); to touch no pod set spec.mode to Paused",
        ),
    ),
    "spec.strategy.maxFailed": (INT_OR_PERCENT,),
    "spec.strategy.steps[]": (
        Rule(
            rule="[has(self.updated), has(self.pause), has(self.analysis)].filter(given, given).size() == 1",
            message=f"{ONE_KIND}: write one list item for each",
        ),
    ),
    "spec.strategy.steps[].updated": (
        INT_OR_PERCENT,
        Rule(
            rule="type(self) == int ? self != 0 : !self.matches('^0+%$')",
            message="0 is no level: use 1 or more, or 1% or more; to wait before the first pod begin"
            " with a pause",
        ),
    ),
    "spec.strategy.steps[].analysis": (
        Rule(
            rule="has(self.prometheus) != has(self.webhook)",
            message=f"{ONE_SOURCE}: write one step for each",
        ),
        Rule(
            rule="self.failureLimit < self.count",
            message="must be less than count, else the analysis could never fail",
            field=".failureLimit",
        ),
    ),
    "spec.strategy.steps[].analysis.prometheus.address": (_HTTP,),
    "spec.strategy.steps[].analysis.prometheus.query": (
        Rule(
            rule=f"self.findAll({_quoted(ARGUMENT_PATTERN)}).all(each, each in {_ARGUMENTS})",
            message="has an argument that there is not; there are "
            + ", ".join(f"$({name})" for name in ARGUMENTS),
        ),
    ),
    "spec.strategy.steps[].analysis.prometheus": (
        Rule(
            rule="has(self.min) || has(self.max)",
            message="set min, max or both, else any value would be good",
        ),
        Rule(
            rule="!has(self.min) || !has(self.max) || self.min <= self.max",
            message="min may not be more than max: no value could be good",
        ),
        Rule(
            rule="!has(self.failBelow) || (has(self.min) && self.failBelow <= self.min)",
            message="failBelow goes with min and may not be more: a good value would be bad as well",
        ),
        Rule(
            rule="!has(self.failAbove) || (has(self.max) && self.failAbove >= self.max)",
            message="failAbove goes with max and may not be less: a good value would be bad as well",
        ),
    ),
    "spec.strategy.steps[].analysis.webhook.url": (_HTTP,),
    "spec.verify.prompts[]": (
        Rule(
            rule="!has(self.expect.tokenIds) || self.expect.tokenIds.size() <= self.maxTokens",
            message="expect.tokenIds has more ids than maxTokens lets the answer have: raise"
            " maxTokens, or expect fewer",
            field=".maxTokens",
        ),
    ),
    "spec.verify.prompts[].expect": (
        Rule(
            rule="[has(self.contains), has(self.regex), has(self.tokenIds)]"
            ".filter(given, given).size() == 1",
            message=f"{ONE_EXPECTATION}: for several expectations write several prompts",
        ),
    ),
    "spec.verify.prompts[].expect.regex": (
        # A pattern that does not compile makes the rule fail, whatever it compares; `|| true` would not.
        Rule(
            rule="''.matches(self) in [true, false]",
            message="must be a regular expression of the RE2 family: no look-around, no"
            " back-references",
        ),
    ),
}
