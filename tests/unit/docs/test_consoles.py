"""What a page's comparison forgives, and what it does not."""

import pytest

from consoles import commands, difference, rewritten

PAGE = """\
Text with a `$ sign`.

```console
$ kubectl get wr
NAME   VERSION   PHASE      UPDATED   HOLD   PAUSE   AGE
chat   v2        Complete   4/4              28      13s
$ true
```

```
$ not a command
```
"""
WR = "chat   v2        Complete   4/4              28      13s"
POD = "chat-0   2/2     Running   0          31s"


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        (WR, "chat   v2        Complete   4/4              1028    1m3s"),
        (POD, "chat-0   2/2     Running   0          2m31s"),
        ("HOLD StepPaused   for 10 s", "HOLD StepPaused   for 1 min 3 s"),
        ("[  3.5 s]  starting", "[ 13.0 s]  starting"),
        ("created 2026-11-29T12:00:00Z", "created 2026-11-30T01:02:03Z"),
        ("revision   3 (chat-de22b3c4d7)", "revision   3 (chat-0ba47f685f)"),
    ],
)
def test_times_hashes_and_milliseconds_are_no_difference(shown: str, came: str) -> None:
    assert difference([shown], [came]) == ""


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        (WR, WR.replace("v2", "v3")),
        (WR, WR.replace("4/4", "3/4")),
        (WR, WR.replace("Complete", "Failed")),
        (POD, POD.replace(" 0 ", " 1 ")),
        (POD, POD.replace("2/2", "1/2")),
        ("a", "a\nb"),
    ],
)
def test_anything_else_is_a_difference(shown: str, came: str) -> None:
    assert difference(shown.splitlines(), came.splitlines())


def test_an_ellipsis_stands_for_any_lines_and_for_nothing_behind_them() -> None:
    assert difference(["...", "end"], ["a", "b", "end"]) == ""
    assert difference(["...", "end"], ["end"]) == ""
    assert difference(["...", "end"], ["end", "more"])


def test_only_console_blocks_are_run_and_a_page_keeps_all_but_their_outputs() -> None:
    told = list(commands(PAGE))
    assert [each.command for each in told] == ["kubectl get wr", "true"]
    assert [len(each.output) for each in told] == [2, 0]
    assert rewritten(PAGE, [each.output for each in told]) == PAGE
    assert "$ true\nnew\n```\n" in rewritten(PAGE, [["x"], ["new"]])
