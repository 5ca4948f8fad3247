"""Every command that asks a cluster, against a real API server: what it reads, what it writes, and what it never touches."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest
import yaml

from crd_install import collection, install_crd, weight_rollout
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.waiting import eventually
from sights import V7, asked, condition, controller_revision
from weightrollout.api.names import (
    ANNOTATION_ACTION,
    API_VERSION,
    FIELD_MANAGER,
    KIND,
    LABEL_NAME,
    LABEL_VERSION,
)

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

ANSWER_S = 30.0
OPERATOR = Path(__file__).parents[2] / "operator"
WEIGHTS = {"version": "v8", "uri": "file:///models/chat/v8/"}
V8 = asked()


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


class Command:
    """Runs the program as a person does."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._access = ("-n", namespace, "--kubeconfig", str(cluster.kubeconfig))

    async def start(self, *arguments: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "weightrollout.cli.main", *arguments, *self._access),
            stdout=PIPE,
            stderr=PIPE,
            cwd=OPERATOR,
        )

    async def __call__(self, *arguments: str) -> tuple[int | None, str, str]:
        return await end(await self.start(*arguments))


async def end(process: Process) -> tuple[int | None, str, str]:
    out, err = await asyncio.wait_for(process.communicate(), ANSWER_S)
    return process.returncode, out.decode(), err.decode()


@pytest.fixture
def run(cluster: Cluster, namespace: str) -> Command:
    return Command(cluster, namespace)


def path(namespace: str) -> str:
    return f"{collection(namespace)}/chat"


async def say(api: Api, namespace: str, **status: Any) -> None:
    """Write status as the operator does."""
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "chat"},
        "status": {"observedGeneration": 1, **status},
    }
    await api.patch(
        f"{path(namespace)}/status", body, "apply", fieldManager=FIELD_MANAGER, force="true"
    )


@pytest.fixture
async def rollout(api: Api, namespace: str) -> Json:
    """At a step that a person must promote: v8 after v7, which the whole fleet has verified."""
    made: Json = await api.create(
        collection(namespace),
        weight_rollout("chat", {"weights": WEIGHTS, "strategy": {"steps": [{"pause": {}}]}}),
    )
    await say(
        api,
        namespace,
        phase="Paused",
        desired=V8,
        target=V8,
        stable=V7,
        step={"index": 0, "of": 1, "hash": "ab12", "since": "2026-11-29T12:00:00Z"},
        conditions=[condition("Ready", "Unknown", generation=1)],
    )
    for number, ref, verdict in ((1, V7, "Verified"), (2, V8, "")):
        body = controller_revision(number, ref, verdict, digest="")
        metadata = body["metadata"]
        kept = {key: metadata[key] for key in ("name", "labels", "annotations")}
        owner = {"apiVersion": API_VERSION, "kind": KIND, "name": "chat"}
        owner |= {"uid": made["metadata"]["uid"]}
        await api.create(
            f"/apis/apps/v1/namespaces/{namespace}/controllerrevisions",
            {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {**kept, "ownerReferences": [owner]},
                "data": body["data"],
                "revision": number,
            },
        )
    await api.create(
        f"/api/v1/namespaces/{namespace}/pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "chat-0", "labels": {LABEL_NAME: "chat", LABEL_VERSION: "v7"}},
            "spec": {
                "schedulerName": "nobody",
                "containers": [{"name": "engine", "image": "none"}],
            },
        },
    )
    return made


async def slot(api: Api, namespace: str) -> str | None:
    metadata = (await api.get(path(namespace)))["metadata"]
    found: str | None = (metadata.get("annotations") or {}).get(ANNOTATION_ACTION)
    return found


async def answer(api: Api, namespace: str, outcome: str) -> str:
    """Be the operator once: wait for the verb, and answer it."""

    async def written() -> str | None:
        return await slot(api, namespace)

    text = await eventually(written, ANSWER_S, "a verb is in the slot")
    assert text is not None
    said = {"id": text, "verb": text.partition(":")[0], "outcome": outcome}
    said |= {"message": "as the test says", "time": "2026-11-29T12:00:00Z"}
    await say(api, namespace, phase="Progressing", desired=V8, target=V8, lastAction=said)
    return text


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["promote", "chat"], f"promote:{V8['revision']}:0.ab12@"),
        (["promote", "chat", "--full"], f"promote:{V8['revision']}:full@"),
        (["abort", "chat"], f"abort:{V8['revision']}@"),
        (["retry", "chat"], f"retry:{V8['revision']}@"),
    ],
)
@pytest.mark.parametrize(("outcome", "code"), [("Accepted", 0), ("Stale", 1)])
async def test_a_verb_names_what_was_seen_and_waits_for_its_answer(
    api: Api,
    namespace: str,
    rollout: Json,
    run: Command,
    arguments: list[str],
    begins: str,
    outcome: str,
    code: int,
) -> None:
    process = await run.start(*arguments)
    text = await answer(api, namespace, outcome)
    ended, out, err = await end(process)
    assert (ended, err) == (code, "")
    assert text.startswith(begins)
    assert "as the test says" in out
    assert (await api.get(path(namespace)))["spec"] == rollout["spec"]


async def test_a_verb_that_nobody_answers_stays_and_says_so(
    api: Api, namespace: str, rollout: Json, run: Command
) -> None:
    code, out, _ = await run("abort", "chat", "--timeout", "1")
    assert code == 3
    assert "no answer within 1 s; the request stays" in out
    assert await slot(api, namespace)


async def test_pause_and_resume_write_the_mode_and_nothing_else(
    api: Api, namespace: str, rollout: Json, run: Command
) -> None:
    assert (await run("pause", "chat"))[0] == 0
    assert (await api.get(path(namespace)))["spec"] == {**rollout["spec"], "mode": "Paused"}
    assert (await run("pause", "chat", "--suspend"))[0] == 0
    assert (await api.get(path(namespace)))["spec"]["mode"] == "Suspended"
    assert (await run("resume", "chat"))[0] == 0
    body = await api.get(path(namespace))
    assert (body["spec"], body["status"]["phase"]) == (rollout["spec"], "Paused")
    assert "is Run already" in (await run("resume", "chat"))[1]


async def test_undo_asks_for_the_older_version_as_it_was_asked_for_then(
    api: Api, namespace: str, rollout: Json, run: Command
) -> None:
    code, out, _ = await run("undo", "chat")
    assert (code, "revision 1 (v7) instead of v8" in out) == (0, True)
    spec = (await api.get(path(namespace)))["spec"]
    assert spec["weights"] == {
        "version": "v7",
        "uri": "file:///models/chat/v7/",
        "metadata": "Require",  # the schema's default
    }


async def test_undo_leaves_a_spec_alone_that_a_gitops_controller_keeps(
    api: Api, namespace: str, rollout: Json, run: Command
) -> None:
    kept = weight_rollout("chat", {"weights": WEIGHTS})
    await api.patch(path(namespace), kept, "apply", fieldManager="argocd-controller", force="true")
    process = await run.start("undo", "chat")
    text = await answer(api, namespace, "Accepted")
    code, _, err = await end(process)
    assert (code, text.startswith(f"abort:{V8['revision']}@")) == (0, True)
    assert "argocd-controller keeps spec.weights" in err
    assert (await api.get(path(namespace)))["spec"]["weights"]["version"] == "v8"


async def test_plan_shows_an_edited_file_and_touches_nothing(
    api: Api, namespace: str, rollout: Json, run: Command, tmp_path: Path
) -> None:
    file = tmp_path / "chat.yaml"
    edited = weight_rollout("chat", {"weights": {**WEIGHTS, "version": "v9"}})
    file.write_text(yaml.safe_dump(edited))
    before = await api.get(path(namespace))
    code, out, err = await run("plan", "-f", str(file), "-o", "json")
    assert (code, err) == (1, "")  # its one pod never runs
    plan = json.loads(out)
    assert (plan["version"], plan["serves"], plan["pods"]) == ("v9", "v7", 1)
    assert await api.get(path(namespace)) == before


async def test_plan_of_what_is_not_applied_yet_needs_only_the_file(
    namespace: str, api: Api, run: Command, tmp_path: Path
) -> None:
    file = tmp_path / "new.yaml"
    file.write_text(yaml.safe_dump(weight_rollout("new", {"weights": WEIGHTS})))
    code, out, err = await run("plan", "-f", str(file))
    assert (code, err) == (1, "")
    assert "no pod carries the label" in out


async def test_list_history_and_explain_say_what_is_there(
    api: Api, namespace: str, rollout: Json, run: Command
) -> None:
    listed = json.loads((await run("list", "-o", "json"))[1])
    assert [(each["name"], each["phase"]) for each in listed] == [("chat", "Paused")]
    past = yaml.safe_load((await run("history", "chat", "-o", "yaml"))[1])
    assert [(each["number"], each["verdict"], each["roles"]) for each in past] == [
        (2, "", ["desired", "target"]),
        (1, "Verified", ["stable"]),
    ]
    assert "uri: file:///models/chat/v7/" in (await run("history", "chat", "--revision", "1"))[1]
    code, _, err = await run("history", "chat", "--revision", "7")
    assert (code, err) == (2, "error: chat has no revision 7; it has 1, 2\n")
    code, out, _ = await run("explain", "chat", "-o", "json")
    assert (code, json.loads(out)["phase"]) == (3, "Paused")


async def test_list_of_all_namespaces_says_which(
    rollout: Json, namespace: str, run: Command
) -> None:
    listed = json.loads((await run("list", "-A", "-o", "json"))[1])
    assert (namespace, "chat") in [(each["namespace"], each["name"]) for each in listed]


async def test_version_says_whether_the_schema_is_this_release_s(run: Command, api: Api) -> None:
    code, out, _ = await run("version", "-o", "json")
    said = json.loads(out)
    assert (code, said["clusterSchema"]) == (0, said["clientSchema"])


@pytest.mark.parametrize("command", ["promote", "undo", "pause", "history", "explain", "plan"])
async def test_a_person_without_rights_is_told_which(
    cluster: Cluster, namespace: str, rollout: Json, tmp_path: Path, command: str
) -> None:
    kubeconfig = await cluster.kubeconfig_for_serviceaccount(namespace, "nobody", tmp_path)
    lesser = Command(Cluster(kubeconfig, "a person without rights"), namespace)
    code, _, err = await lesser(command, "chat")
    assert code == 2
    assert "cannot get resource" in err
