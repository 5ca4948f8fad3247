"""A model with a layer that nobody tried is served, and refused by preflight before any pause."""

from dataclasses import replace
from pathlib import Path

from realvllm import families, tiny
from realvllm.client import Client, difference
from realvllm.control import CALL_S
from realvllm.engine import engine
from realvllm.swapping import swapper
from weightrollout.api.swap import Outcome
from weightrollout.weights.preflight import engine_refusal

#: What GPT-2 has and no family has: its table of positions, and its norms.
STRANGE = ("torch.nn.modules.sparse.Embedding", "vllm.model_executor.layers.layernorm.LayerNorm")
OVERRIDE = "WEIGHTROLLOUT_ALLOW_UNTESTED_LAYERS"


async def test_untried_layer_is_named_with_the_way_around_it_and_that_way_works(
    tmp_path: Path,
) -> None:
    """The second engine has the override, and is the fresh process for the first version of the other."""
    pair = tiny.pair(families.UNTRIED)
    allowed = replace(pair.b.launch(), environment={OVERRIDE: ",".join(STRANGE)})
    async with (
        engine(tmp_path / "a", pair.a.launch()) as refused,
        engine(tmp_path / "b", allowed) as overridden,
        swapper(refused) as first,
        swapper(overridden) as second,
    ):
        client = Client(refused.http_url, str(refused.launch.model))
        a = await client.answers(deadline_s=CALL_S)

        found = engine_refusal(first.reports, first.reports[0].instance)
        assert found is not None
        assert found.reason == "LayerUntested"
        assert f"{OVERRIDE}={','.join(STRANGE)} in the engine's container" in found.message
        assert set(STRANGE) <= {layer.kind for layer in first.reports[0].layers}

        assert engine_refusal(second.reports, second.reports[0].instance) is None
        ended, _ = await second.swap(pair.a, "a")
        assert ended.outcome is Outcome.COMMITTED
        other = Client(overridden.http_url, str(overridden.launch.model))
        assert difference(await other.answers(deadline_s=CALL_S), a) == 0.0
