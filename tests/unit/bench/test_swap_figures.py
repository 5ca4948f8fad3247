"""What was measured is what the page says: no target is called reached that was missed, and no failure is left out."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from bench.swap import gaps
from bench.swap.modes import ALL, PARTS, SPARE, Settings
from bench.swap.picture import picture
from bench.swap.rendering import rendered
from bench.swap.targets import verdicts

Json = dict[str, Any]


def swap(pause: float, **parts: float) -> Json:
    return {
        "pause": pause,
        "calls": {"pause": 1.0, "start_update": 1.0, "update": pause - 4, "resume": 1.0},
        "worker": pause - 5,
        "prepare": 1500.0,
        "anon_mib": 3000.0,
        "parts": {
            "prepare": {},
            "pause": {name: {"ms": ms, "faults": 0} for name, ms in parts.items()},
        },
    }


def stream(**changed: Any) -> Json:
    usual = {"usual": 10.0, "before": [10.0] * 100, "preparing": [11.0] * 50, "stall": 30.0}
    return {**usual, "first": 12.0, "lost": 2.0, "window": 100.0, "context": 60, **changed}


def figures(**pauses: float) -> Json:
    """All modes of both payloads and the tiny model take 10 ms, memcpy 100 ms, unless told otherwise."""
    modes = ("flip", "repack", "layerwise", "own", "direct", "own-plain")
    model = {
        "title": "M",
        "tensors": 310,
        "bytes": 1_192_099_840,
        "threads": 2,
        "swaps": {
            name: [swap(pauses.get(name.replace("-", "_"), 10.0))] * 3
            for name in modes
            if pauses.get(name, 1.0)
        },
        "floor": {"1": [150.0] * 3, "2": [100.0] * 3},
        "restart": {"packed": 30.0},
        "errors": [],
    }
    return {
        "date": "2026-11-29",
        "machine": {
            **{"cores": 2, "cpu": "C", "memory_gib": 24.0, "python": "3.11", "libc": "glibc 2"},
            **{"torch": "2.13.0", "vllm": "0.32.0"},
        },
        "models": {
            name: {**model, "title": name, "errors": []} for name in ("tiny", "tied", "untied")
        },
        "staging": {
            "bytes": 1_503_264_768,
            "files": 2,
            "rounds": [{"read": 0.3, "coreutils": 9.0, "openssl": None, "stage": 4.0}] * 3,
        },
    }


def reached(said: Json, what: str) -> set[bool | None]:
    found = {each.reached for each in verdicts(said) if what in each.what}
    assert found, f"no verdict about {what}"
    return found


@pytest.mark.parametrize(
    ("what", "kept", "missed"),
    [
        ("untied: pause of `direct`", {"direct": 145.0}, {"direct": 145.1}),
        ("tied: pause of `flip`", {"flip": 30.0}, {"flip": 30.1}),
        (
            "tied: pause of `repack`",
            {"repack": 700.0, "own": 1000.0},
            {"repack": 701.0, "own": 1000.0},
        ),
        ("Fixed cost of a swap, idle, `flip`", {"flip": 15.0}, {"flip": 15.1}),
        ("Fixed cost of a swap, idle, `direct`", {"direct": 15.0}, {"direct": 15.1}),
    ],
)
def test_a_target_is_reached_up_to_its_figure_and_no_further(
    what: str, kept: dict[str, float], missed: dict[str, float]
) -> None:
    assert reached(figures(**kept), what) == {True}
    assert reached(figures(**missed), what) == {False}


def test_serving_while_staging_and_preparing_is_judged_by_the_99th_percentile() -> None:
    said = figures()
    untied = said["models"]["untied"]
    ways = {SPARE: [10.0] * 195 + [14.9] * 5, ALL: [90.0] * 200}
    untied["staging"] = {"without": [10.0] * 200, "with": ways, "seconds": {}}
    untied["cells"] = {
        "flip, KV cleared": [{"swap": swap(10), "streams": [stream()], "recomputed": 60}],
        "direct, KV kept": [
            {"swap": swap(10), "streams": [stream(preparing=[16.0] * 50)], "recomputed": 0}
        ],
    }
    assert reached(said, f"staging 1.5 GB on {SPARE}") == {True}
    assert reached(said, f"staging 1.5 GB on {ALL}") == {None}
    assert reached(said, "while preparing `flip`") == {True}
    assert reached(said, "while preparing `direct`") == {False}
    ways[SPARE] = [10.0] * 190 + [15.1] * 10
    assert reached(said, f"staging 1.5 GB on {SPARE}") == {False}


def test_under_load_a_pause_may_wait_for_one_step_of_the_engine() -> None:
    said = figures()
    cells = [{"swap": swap(40.0), "streams": [stream(usual=10.0)], "recomputed": 0}]
    said["models"]["untied"]["cells"] = {"flip, KV kept": cells}
    assert reached(said, "`flip` under load") == {True}
    cells[0]["swap"] = swap(40.1)
    assert reached(said, "`flip` under load") == {False}


def test_staging_is_compared_with_the_slower_of_reading_and_hashing() -> None:
    said = figures()
    assert reached(said, "Staging") == {True}
    for each in said["staging"]["rounds"]:
        each.update(coreutils=0.2)
    assert reached(said, "Staging") == {False}


def test_the_page_says_which_targets_were_missed_and_what_took_the_time() -> None:
    said = figures()
    said["models"]["tied"]["swaps"]["repack"] = [swap(900.0, load=300.0, pack=500.0)] * 3
    said["models"]["tied"]["swaps"]["own"] = [swap(1000.0)] * 3
    text = rendered(said)
    assert "0.90 (900 of 1000 ms) | **no** |" in text
    assert "- `repack`: pack 500 ms, load 300 ms" in text


def test_what_failed_is_on_the_page_and_the_rest_is_still_there() -> None:
    said = figures()
    said["models"]["tied"]["errors"] = [{"where": "repack", "error": "SwapFailed('Poisoned')"}]
    said["models"]["tied"]["swaps"]["repack"] = []
    text = rendered(said)
    assert "- tied: repack: `SwapFailed('Poisoned')`" in text
    assert not [each for each in verdicts(said) if each.what == "tied: pause of `repack`"]
    assert "tied: pause of `flip`" in text


@pytest.mark.parametrize("lacking", ["swaps", "floor", "restart", "errors"])
def test_a_run_that_ended_early_is_rendered_as_far_as_it_came(lacking: str) -> None:
    said = figures()
    for model in said["models"].values():
        model.pop(lacking)
        if lacking == "floor":
            model["floor"] = {}
    rendered(said)
    ET.fromstring(picture(said))
    said["models"] = {}
    del said["staging"]
    assert "### Targets" in rendered(said)
    ET.fromstring(picture(said))


def test_the_picture_has_a_bar_for_every_mode_memcpy_and_restart_and_longer_ones_for_longer_pauses() -> (
    None
):
    said = figures(flip=10.0, own=1000.0)
    said["models"] = {"tied": said["models"]["tied"]}
    space = "{http://www.w3.org/2000/svg}"
    bars = [
        float(each.get("width", "0"))
        for each in ET.fromstring(picture(said)).iter(f"{space}rect")
        if each.get("fill") != "#ffffff"
    ]
    memcpy, flip, _, _, own, _, _, restart = bars
    assert flip < memcpy < own < restart


def test_a_stream_sees_the_longest_gap_around_the_pause() -> None:
    steady = [number / 100 for number in range(101)]  # every 10 ms, to 1.0
    told = gaps.seen(
        [*steady, 1.25, 1.26, 1.27], {"init": 0.905, "pause": 1.001, "resumed": 1.2}, 7
    )
    assert told["usual"] == pytest.approx(10)
    assert told["stall"] == pytest.approx(240)
    assert told["first"] == pytest.approx(50)
    assert told["context"] == 7 + 101
    assert told["window"] == pytest.approx(269)
    assert told["lost"] == pytest.approx(26.9 - 3)
    assert len(told["preparing"]) == 11


def test_a_stream_that_ended_in_the_swap_is_no_measurement() -> None:
    with pytest.raises(ValueError, match="0 tokens after"):
        gaps.seen([0.1, 0.2, 0.3], {"init": 0.25, "pause": 0.3, "resumed": 0.4}, 1)


def test_a_part_that_does_not_exist_is_not_measured_in_silence() -> None:
    assert Settings.of({}).only == PARTS
    assert Settings.of({"BENCH_ONLY": "tiny,staging"}).only == ("tiny", "staging")
    with pytest.raises(ValueError, match="tinny"):
        Settings.of({"BENCH_ONLY": "tinny"})
