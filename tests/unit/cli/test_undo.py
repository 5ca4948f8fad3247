"""Undo goes where it says, by the way that lasts, and never over somebody's newer word."""

from typing import Any

import pytest

from sights import V7, V8, controller_revision, rollout
from weightrollout.cli.access import NotPossible
from weightrollout.cli.past import own_records
from weightrollout.cli.undoing import Undo, undo_of, weights_of
from weightrollout.cli.view import view_of
from weightrollout.kube.person import keeper_of, replacing

Json = dict[str, Any]

V6: Json = {"version": "v6", "digest": "sha256:" + "6c" * 32, "revision": "chat-6c6c6c"}
HISTORY = (
    controller_revision(1, V6, "Verified"),
    controller_revision(2, V7, "Verified"),
    controller_revision(3, V8),
)


def undo(
    history: tuple[Json, ...] = HISTORY, keeper: str | None = None, to: int | None = None
) -> Undo:
    body = rollout(phase="Progressing", desired=V8, target=V8, stable=V7)
    return undo_of("chat", view_of(body, ()), own_records(body["metadata"], history), keeper, to)


def test_undo_leads_to_the_newest_older_version_that_was_verified() -> None:
    assert (undo().to.number, undo().leaves) == (2, "v8")
    rejected = (HISTORY[0], controller_revision(2, V7, "Rejected"), HISTORY[2])
    assert undo(rejected).to.number == 1


def test_undo_to_a_number_takes_that_one() -> None:
    assert undo(to=1).to.version == "v6"


@pytest.mark.parametrize(
    ("history", "keeper", "to", "said"),
    [
        pytest.param(HISTORY, None, 9, "no revision 9; it has 1, 2, 3", id="no such number"),
        pytest.param(HISTORY, None, 3, "is what chat is asked to serve", id="where it is"),
        pytest.param(HISTORY[2:], None, None, "no older version", id="nothing before it"),
        pytest.param(
            (controller_revision(1, V6, "Rejected", "ProverFailed"), *HISTORY[1:]),
            None,
            1,
            "was rejected \\(ProverFailed\\)",
            id="a rejected one",
        ),
        pytest.param(HISTORY, "argocd-controller", 1, "argocd-controller keeps", id="kept spec"),
    ],
)
def test_an_undo_that_leads_nowhere_is_refused_with_the_way_out(
    history: tuple[Json, ...], keeper: str | None, to: int | None, said: str
) -> None:
    with pytest.raises(NotPossible, match=said):
        undo(history, keeper, to)


def test_where_a_controller_keeps_the_spec_undo_is_an_abort() -> None:
    assert undo(keeper="argocd-controller").keeper == "argocd-controller"
    assert undo(keeper="argocd-controller", to=2).to.number == 2  # where abort leads, too


def test_a_version_comes_back_just_as_it_was_asked_for() -> None:
    """Else it would be another revision, and be tried as a new one."""
    record = own_records(rollout()["metadata"], [controller_revision(1, V6, digest="")])[0]
    assert weights_of(record) == {"version": "v6", "uri": "file:///models/chat/v6/"}


def test_what_the_older_version_leaves_out_is_taken_out_of_the_spec() -> None:
    old = {"version": "v8", "digest": "d", "draft": {"uri": "u", "digest": "e"}}
    new = {"version": "v7", "draft": {"from": "Target"}}
    assert replacing(old, new) == {
        "version": "v7",
        "digest": None,
        "draft": {"from": "Target", "uri": None, "digest": None},
    }


def managed(manager: str, operation: str, *, subresource: str = "", field: str = "weights") -> Json:
    entry: Json = {
        "manager": manager,
        "operation": operation,
        "fieldsV1": {"f:spec": {f"f:{field}": {}}},
    }
    if subresource:
        entry["subresource"] = subresource
    return {"metadata": {"managedFields": [entry]}}


@pytest.mark.parametrize(
    ("body", "keeper"),
    [
        (managed("argocd-controller", "Apply"), "argocd-controller"),
        (managed("argocd-controller", "Update"), "argocd-controller"),
        (managed("kustomize-controller", "Apply"), "kustomize-controller"),
        (managed("helm-controller", "Update"), "helm-controller"),
        (managed("trainer", "Apply"), "trainer"),
        (managed("trainer", "Update"), None),
        (managed("kubectl", "Apply"), None),
        (managed("kubectl-client-side-apply", "Update"), None),
        (managed("kubectl-weightrollout", "Update"), None),
        (managed("argocd-controller", "Apply", field="strategy"), None),
        (managed("weightrollout", "Apply", subresource="status"), None),
        ({"metadata": {}}, None),
    ],
)
def test_who_keeps_the_spec_is_told_by_its_managed_fields(body: Json, keeper: str | None) -> None:
    assert keeper_of(body, "spec", "weights") == keeper
