"""The bench of a trainer that never waits, small: the same properties, but for those that a slow machine decides.

What real agents and engines do with so many versions is seen in rollouts/test_many_versions.py.
"""

from pathlib import Path

from bench.training.course import Settings, course
from bench.training.rendering import promises
from fleet.operator_process import LEASE
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import Api

SMALL = Settings(
    pods=6, seconds=16.0, engine_away_s=1.0, engine_restarts=2, kills=1, lease=LEASE, last_s=60.0
)


async def test_newest_wins_with_few_writes_although_engine_and_operator_end(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> None:
    world = World(cluster, api, namespace, tmp_path)
    await world.install_crd()
    found = await course(cluster, world, SMALL)
    for each in promises(found):
        assert each.reached, f"{each.what}: {each.measured}, and not {each.target}"
    assert len(found["recoveries_s"]) == 1, "another leader came"
    assert found["served"] > 1
