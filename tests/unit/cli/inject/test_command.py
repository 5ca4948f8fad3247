"""The command as a shell sees it: only YAML on stdout, everything else on stderr, nothing printed where refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from injecting import IMAGE, deployment, engine, named, pod_spec
from weightrollout.api import names
from weightrollout.cli.inject import documents
from weightrollout.cli.main import app

PLAIN = documents.write([deployment()])


def inject(*arguments: str, given: str = PLAIN, image: str | None = IMAGE) -> Result:
    environment = {"WEIGHTROLLOUT_AGENT_IMAGE": image}
    return CliRunner().invoke(app, ["inject", "-f", "-", *arguments], input=given, env=environment)


def test_a_pipe_there_and_back_ends_where_it_began() -> None:
    after = inject("--bytes", "1Gi", "--gate")
    assert after.exit_code == 0
    assert names.AGENT_CONTAINER in after.stdout
    back = inject("--uninject", given=after.stdout, image=None)
    assert (back.exit_code, back.stdout) == (0, PLAIN)


def test_stdout_is_yaml_alone_and_stderr_says_what_was_done() -> None:
    after = inject(given="# a comment\n" + PLAIN)
    [found] = documents.read(after.stdout)
    assert found["kind"] == "Deployment"
    assert "Deployment/chat:" in after.stderr
    assert "CommentsLost" in after.stderr


def test_an_image_must_be_named_because_none_is_published() -> None:
    without = inject(image=None)
    assert (without.exit_code, without.stdout) == (2, "")
    assert "--agent-image" in without.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        ([], "a: [", "Malformed"),
        ([], "", "no objects"),
        ([], documents.write([deployment({"name": "web", "image": "nginx"})]), "NoEngine"),
        (["--staging", "memory"], PLAIN, "SizeMissing"),
        (["--bytes", "much"], PLAIN, "16Gi"),
        (["--uri", "ftp://models/chat/"], PLAIN, "--bytes"),
        (["--uri", "file:///models/chat/nowhere/"], PLAIN, "--bytes"),
        (["--agent-mount", "keys"], PLAIN, "VOLUME:/PATH"),
        (["--staging", "tape"], PLAIN, "--staging"),
        (["--trainer-token-secret", ":key"], PLAIN, "NAME:KEY"),
        (["--trainer-token-secret", "t:../key"], PLAIN, "NAME:KEY"),
        (["--trainer-token-secret", "A B"], PLAIN, "no object"),
        (["--trainer-guard", "none"], PLAIN, "--trainer-guard"),
        (["--agent-tls-secret", "A B"], PLAIN, "no object"),
        (["--engine-protocol", "ipc"], PLAIN, "--engine-protocol"),
        (["--engine-protocol", "http"], PLAIN, "TokenMissing"),
        (["--engine-protocol", "dynamo"], PLAIN, "NoSidecar"),
        (["--engine-token-secret", ":key"], PLAIN, "NAME:KEY"),
        (["--engine-sidecar", "https://127.0.0.1:9090"], PLAIN, "http://HOST:PORT"),
        (["--engine-sidecar", "127.0.0.1:9090"], PLAIN, "http://HOST:PORT"),
        (["--sigstore-trusted-root", "root:a/b"], PLAIN, "NAME:KEY"),
    ],
)
def test_a_refusal_prints_nothing_on_stdout_and_says_what_to_do(
    arguments: list[str], given: str, said: str
) -> None:
    refused = inject(*arguments, given=given)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert said in refused.stderr


def test_a_file_that_is_not_there_is_refused() -> None:
    missing = CliRunner().invoke(app, ["inject", "-f", "nowhere.yaml", "--agent-image", IMAGE])
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "nowhere.yaml" in missing.stderr


def test_the_size_of_a_version_is_taken_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(3 << 20))
    (tmp_path / "optimizer.bin").write_bytes(bytes(5 << 20))  # no engine reads it
    mounts = [{"name": "models", "mountPath": str(tmp_path)}]
    given = documents.write([deployment(engine(volumeMounts=mounts))])

    [found] = documents.read(inject("--uri", tmp_path.as_uri() + "/", given=given).stdout)
    spec = pod_spec(found)
    assert named(spec["volumes"], names.VOLUME_STAGING)["emptyDir"]["sizeLimit"] == "73Mi"
    agent = named(spec["initContainers"], names.AGENT_CONTAINER)
    assert {**mounts[0], "readOnly": True} in agent["volumeMounts"]


def test_a_uri_that_only_pods_can_read_needs_a_size_beside_it() -> None:
    mounts = [{"name": "models", "mountPath": "/models"}]
    given = documents.write([deployment(engine(volumeMounts=mounts))])
    after = inject("--uri", "file:///models/chat/1200/", "--bytes", "1Gi", given=given)
    assert after.exit_code == 0
    assert "CheckpointNotMounted" not in after.stderr


def test_weights_in_a_bucket_need_no_mount() -> None:
    bucket = ["--uri", "s3://weights/chat/1200/", "--bytes", "1Gi", "--agent-secret", "reader"]
    after = inject(*bucket)
    assert after.exit_code == 0
    assert "CheckpointNotMounted" not in after.stderr
    assert "secretRef" in after.stdout
