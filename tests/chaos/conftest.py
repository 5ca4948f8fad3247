"""One campaign for the kills of all tests that were collected, and a table at the end."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from killing.boundaries import pairs, single_points
from killing.campaign import Campaign
from killing.lane import Ground, Outcome, Weights
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.node_settings import NodeSettings, python_environment
from localcluster.virtual_node import VirtualNode
from objectstore.files import any_of, google, google_environment
from objectstore.front import front
from signers import Signer

TESTS = Path(__file__).resolve().parents[1]
#: Two megabytes: half a minute at the slowest pace that there is.
WORDS: Final = 16_384
PAIRS: Final = int(os.environ.get("WEIGHTROLLOUT_CHAOS_PAIRS", "10"))
SEED: Final = int(os.environ.get("WEIGHTROLLOUT_CHAOS_SEED", "4"))

_outcomes = pytest.StashKey[list[Outcome]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `point` is run for all single points, one that takes `pair` for the seeded pairs."""
    if "point" in metafunc.fixturenames:
        metafunc.parametrize("point", single_points())
    if "pair" in metafunc.fixturenames:
        metafunc.parametrize("pair", pairs(PAIRS, SEED), ids=" then ".join)


@pytest.fixture(scope="session")
async def ground(
    cluster: Cluster, api: Api, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Ground]:
    folder = tmp_path_factory.mktemp("chaos")
    # With a draft in each, so that the steps of its session are passed too.
    shapes = checkpoints.mtp_shapes(vocab=WORDS)
    models = [
        checkpoints.write_checkpoint(folder / name, seed=ord(name), tensors=shapes)
        for name in "abcd"
    ]
    signer = Signer.made(folder / "signer")
    for model in models:
        signer.sign(model)
    weights = [
        Weights(
            model.as_uri() + "/",
            checkpoints.fingerprint(model),
            {"uri": f"gs://{model.name}-weights/model/", "signature": {"key": signer.public}},
        )
        for model in models
    ]
    # Here processes die all the time, and none of it says that they cannot run.
    settings = NodeSettings(backoff_base_s=0.1, backoff_cap_s=0.5, backoff_reset_s=2.0)
    environment = python_environment(TESTS, TESTS.parent / "operator")
    buckets = any_of(*(google(model, f"{model.name}-weights", "model/") for model in models))
    with front(buckets) as served:
        found_there = google_environment(served.url, folder / "account.json")
        async with VirtualNode(
            cluster, environment=environment, folder=folder, settings=settings
        ) as node:
            yield Ground(cluster, api, node, weights, models[0], folder, found_there)


@pytest.fixture(scope="session")
async def campaign(ground: Ground, request: pytest.FixtureRequest) -> AsyncIterator[Campaign]:
    kills = [kill for item in request.session.items if (kill := _kill_of(item))]
    found = Campaign(ground, kills)
    found.start()
    yield found
    request.config.stash[_outcomes] = found.outcomes()
    await found.stop()


def _kill_of(item: pytest.Item) -> tuple[str, ...]:
    """() for a test of something else."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return ()
    parameters: dict[str, Any] = item.callspec.params
    return (parameters["point"],) if "point" in parameters else parameters.get("pair", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    outcomes = terminalreporter.config.stash.get(_outcomes, [])
    if not outcomes:
        return
    terminalreporter.section("seconds from the first death until the fleet was as it should be")
    for outcome in outcomes:
        notes = [] if outcome.struck == len(outcome.points) else ["the second was not passed"]
        notes += [f"no pod was Ready {outcome.nowhere} times"] if outcome.nowhere else []
        note = f"   ({', '.join(notes)})" if notes else ""
        terminalreporter.write_line(
            f"{outcome.seconds:8.1f}   {' then '.join(outcome.points)}{note}"
        )
    ordered = sorted(outcome.seconds for outcome in outcomes)
    middle, last = ordered[len(ordered) // 2], ordered[-1]
    terminalreporter.write_line(
        f"{len(ordered)} kills: median {middle:.1f} s, longest {last:.1f} s"
    )
