"""What a profile chooses stays out of the object, so that another profile changes it.

A default that were stored would belong to whoever applied first, and nobody could tell it from a word of theirs.
"""

from typing import Any

import pytest

from crd_install import collection, install_crd, weight_rollout
from localcluster.api import Api
from weightrollout.api.profiles import TRAINING_BY_PATH
from weightrollout.api.spec import Supersede, TakeOut
from weightrollout.reading import read_spec

pytestmark = pytest.mark.cluster

Json = dict[str, Any]


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


async def applied(api: Api, namespace: str, manager: str, spec: Json) -> Json:
    path = f"{collection(namespace)}/chat"
    manifest = weight_rollout("chat", spec)
    return await api.patch(path, manifest, "apply", fieldManager=manager, force="true")


def stored(made: Json) -> set[str]:
    spec = made["spec"]
    return {
        path
        for path in TRAINING_BY_PATH
        for _, section, field in [path.split(".")]
        if field in spec.get(section, {})
    }


async def test_a_profile_that_is_applied_later_chooses_what_nobody_set(
    api: Api, namespace: str
) -> None:
    made = await applied(api, namespace, "git", {"strategy": {"maxFailed": 0}})
    assert stored(made) == set()
    assert made["spec"]["profile"] == "Serving"
    assert read_spec(made).swap.take_out is TakeOut.ENDPOINT

    own = {"strategy": {"maxFailed": 0, "maxUnavailable": "25%"}}
    made = await applied(api, namespace, "git", {"profile": "Training", **own})
    assert stored(made) == {"spec.strategy.maxUnavailable"}
    spec = read_spec(made)
    assert spec.swap.take_out is TakeOut.NONE
    assert spec.strategy.supersede is Supersede.AFTER_COMPLETE
    assert spec.strategy.max_unavailable == "25%"

    made = await applied(api, namespace, "git", own)
    assert read_spec(made).swap.take_out is TakeOut.ENDPOINT


async def test_what_one_manager_leaves_out_another_may_own(api: Api, namespace: str) -> None:
    """A trainer that applies weights alone takes no policy from whoever wrote it."""
    await applied(api, namespace, "git", {"profile": "Training", "swap": {"drainSeconds": 5}})
    weights = {"version": "v2", "uri": "file:///models/chat/step-1200/"}
    made = await applied(api, namespace, "trainer", {"weights": weights})
    assert stored(made) == {"spec.swap.drainSeconds"}
    spec = read_spec(made)
    assert (spec.swap.drain_seconds, spec.swap.take_out) == (5, TakeOut.NONE)
