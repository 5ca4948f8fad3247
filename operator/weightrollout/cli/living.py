"""Read everything that a forecast looks at."""

from weightrollout.cli.forecast import Live
from weightrollout.cli.past import own_records
from weightrollout.kube.client import Client, Json
from weightrollout.kube.reader import (
    read_disruption_budgets,
    read_pods,
    read_revisions,
    read_stable,
)
from weightrollout.reading import published, revision_of


async def read_live(client: Client, rollout: Json) -> Live:
    """`rollout`: as it was read, or made up where there is none yet."""
    name = rollout["metadata"]["name"]
    records = own_records(rollout["metadata"], await read_revisions(client, name))
    return Live(
        rollout,
        tuple(map(revision_of, records)),
        await read_pods(client, name),
        published(await read_stable(client, name)),
        await read_disruption_budgets(client),
    )
