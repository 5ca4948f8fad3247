"""Signed weights out of a bucket come by every place of a staging where an agent can be killed."""

from pathlib import Path

import pytest

import checkpoints
from killing.agent import patch_staging
from killing.armed import Armed
from killing.boundaries import STAGING
from objectstore.files import google, google_environment
from objectstore.front import front
from reports import report_of
from signers import Signer
from weightrollout.api.signature import Signature
from weightrollout.weights.node_notices import Notice
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.weights.sharing import Sharing
from weightrollout.weights.staging import Store


class Seen(Armed):
    """Nobody dies."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.points: list[str] = []

    def strike(self, point: str) -> None:
        self.points.append(point)


def test_every_place_of_a_staging_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in STAGING.values():
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back afterwards
    notices: list[Notice] = []
    seen, signer = Seen(), Signer.made(tmp_path / "signer")
    model = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    signer.sign(model)
    patch_staging(seen)
    sharing = Sharing(NodeVolume(tmp_path / "volume", keep_free_percent=0), notices.append)
    store = Store(tmp_path / "staging", threads=2, sharing=sharing)
    with front(google(model, "bucket", "model/")) as served:
        for name, value in google_environment(served.url, tmp_path / "account.json").items():
            monkeypatch.setenv(name, value)
        store.stage(
            "gs://bucket/model/",
            digest=None,
            reports=[report_of(model)],
            progress=lambda count: None,
            cancelled=lambda: False,
            signature=Signature(key=signer.public),
        )
    assert notices == []
    assert set(seen.points) == {
        f"agent/staging/{place}/{when}" for place in STAGING for when in ("before", "after")
    }
