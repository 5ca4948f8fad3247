"""Each image's program starts as a careful cluster starts it: user 65532, a read-only root, no network, no new rights."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from checkpoints import write_checkpoint
from images.places import version
from images.running import Container, Unpacked
from localcluster.processes import Command, Process, start_process
from localcluster.waiting import eventually
from ports import ports_for_good

Images = Callable[[str], Unpacked]

NOBODY = 65532
SERVES_S = 120.0
ROOMS = {
    "operator": ("controller", "kube", "rollout", "api"),
    "agent": ("agent", "swap", "engine", "weights", "handover"),
    "cli": ("cli", "api"),
    "simulator": (),
}
IMPORT = """
import importlib, pkgutil, sys
for room in sys.argv[1:]:
    package = importlib.import_module(room)
    for each in pkgutil.walk_packages(package.__path__, room + "."):
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)
        print(each.name)
"""
CONDITIONS = """
import os, socket
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print(os.getuid(), os.getgid(), os.getgroups(), status["NoNewPrivs"].strip(), status["CapEff"].strip())
for place in ("/app/x", "/x", "/tmp/x"):
    try:
        open(place, "w")
    except OSError as refused:
        print(refused.errno)
try:
    socket.create_connection(("127.0.0.1", 1), 1)
except OSError as refused:
    print(refused.errno)
"""


def test_the_conditions_are_as_strict_as_they_are_said_to_be(container: Container) -> None:
    """Else what follows would prove nothing. 30: read-only; 101: no network."""
    done = container.run("-c", CONDITIONS, entrypoint=["python"])
    nobody = f"{NOBODY} {NOBODY} [{NOBODY}] 1 {0:016x}"
    assert done.stdout.splitlines() == [nobody, "30", "30", "30", "101"], done.stderr


def test_help_is_printed(container: Container) -> None:
    done = container.run("--help")
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()
    assert done.stderr == ""


@pytest.mark.parametrize("target", ["operator", "agent", "cli"])
def test_the_version_is_printed(unpacked: Images, target: str) -> None:
    image = unpacked(target)
    done = Container(image.root, image.archive).run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, version()), done.stderr


def test_no_shell_is_needed(image: Unpacked, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.touch()
    shells = {"/usr/bin/dash": nothing, "/usr/bin/bash": nothing}
    container = Container(image.root, image.archive, shells)
    assert container.run("-c", "true", entrypoint=["sh"]).returncode != 0
    done = container.run("--help")
    assert done.returncode == 0, done.stderr


def test_every_module_of_its_rooms_finds_what_it_imports(
    image: Unpacked, container: Container
) -> None:
    rooms = [f"weightrollout.{room}" for room in ROOMS[image.target]] or ["simulator"]
    done = container.run("-c", IMPORT, *rooms, entrypoint=["python", "-W", "error"])
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 10


def test_the_init_container_puts_the_plugin_where_an_engine_finds_it(
    unpacked: Images, tmp_path: Path
) -> None:
    image = unpacked("agent")
    tmp_path.chmod(0o755)
    os.chown(tmp_path, NOBODY, NOBODY)
    volumes = {"/mnt": tmp_path}
    done = Container(image.root, image.archive, volumes).run("install-plugin", "/mnt")
    assert done.returncode == 0, done.stderr
    ask = (
        "from importlib.metadata import entry_points as found; import weightrollout;"
        "print([each.value for each in found(group='vllm.general_plugins')], weightrollout.__file__)"
    )
    alone = {"PYTHONPATH": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-S", "-c", ask],
        env=alone,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert said.strip() == f"['weightrollout.plugin:register'] {tmp_path}/weightrollout/__init__.py"


async def test_an_agent_finds_the_simulated_engine_beside_it(
    unpacked: Images, tmp_path: Path
) -> None:
    folders = {name: tmp_path / name for name in ("staging", "handover", "model")}
    for folder in folders.values():
        folder.mkdir()
        folder.chmod(0o777)
    write_checkpoint(folders["model"], seed=1)
    http, grpc, calls, door = ports_for_good(4)
    places = {"/srv": folders["staging"], "/mnt": folders["handover"], "/media": folders["model"]}
    shared = ["--staging=/srv", "--handover=/mnt"]
    engine = [f"--http=127.0.0.1:{http}", f"--grpc=127.0.0.1:{grpc}", "--model=/media", *shared]
    agent = [f"--engine-http=http://127.0.0.1:{http}", f"--engine-grpc=127.0.0.1:{grpc}"]
    binds = [f"--grpc-bind=127.0.0.1:{calls}", f"--http-bind=127.0.0.1:{door}"]
    with_volumes = {
        name: Container(unpacked(name).root, unpacked(name).archive, places, network=True)
        for name in ("simulator", "agent")
    }
    running = [
        started(with_volumes["simulator"], engine, tmp_path / "engine.log"),
        started(with_volumes["agent"], [*agent, *binds, *shared], tmp_path / "agent.log"),
    ]
    try:
        await answers(f"http://127.0.0.1:{door}/readyz", running, tmp_path)
    finally:
        for each in running:
            await each.stop(10.0)
    assert [each.exit_code for each in running] == [0, 0]


def started(container: Container, arguments: list[str], log: Path) -> Process:
    command = container.command(*arguments)
    return start_process(Command(command, container.environment(), log, Path("/")))


async def answers(url: str, running: list[Process], logs: Path) -> None:
    """Wait until `url` says 200. Fails with the logs when one of the processes has ended."""

    async def well() -> bool:
        ended = [each.exit_code for each in running if each.exit_code is not None]
        said = [file.read_text() for file in logs.glob("*.log")] if ended else []
        assert not ended, (ended, *said)
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                return answer.status == 200
        except (TimeoutError, aiohttp.ClientError):
            return False

    await eventually(well, SERVES_S, f"{url} answers")
