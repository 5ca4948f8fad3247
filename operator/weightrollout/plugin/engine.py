"""The weight-transfer backend: vLLM's lifecycle calls, one worker's side.

Init answers in milliseconds and prepares on a thread; Start, Update and Finish run in the pause.
An Update changes nothing unless this very transaction was prepared, so that a process which was
started in the middle of somebody's swap refuses it.
"""

import dataclasses
import json
import logging
import os
import secrets
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)

from weightrollout.handover import answers, files, records
from weightrollout.handover.records import (
    DRAFT,
    TARGET,
    HandoverError,
    InitInfo,
    LayerReport,
    LoadPlan,
    Prepared,
    Receipt,
    UpdateInfo,
)
from weightrollout.plugin import adapters, exit_watch, registration, report
from weightrollout.plugin.cores import spare_cores
from weightrollout.plugin.heal import heal
from weightrollout.plugin.paths import PATHS, PathError
from weightrollout.plugin.paths import Path as LoadPath
from weightrollout.plugin.region import Region, RegionError, inside
from weightrollout.plugin.shadow import ShadowError
from weightrollout.plugin.sides import Side, understand
from weightrollout.plugin.subject import Subject, SubjectError

log = logging.getLogger(__name__)


@dataclasses.dataclass
class Init(WeightTransferInitInfo):
    info: InitInfo


@dataclasses.dataclass
class Update(WeightTransferUpdateInfo):
    info: UpdateInfo


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """A prepared session."""

    digest: str
    path: LoadPath
    receipt: Receipt  # complete but for the time


class WeightRolloutEngine(WeightTransferEngine[Init, Update]):
    init_info_cls = Init
    update_info_cls = Update

    def __init__(
        self, config: Any, vllm_config: Any, device: torch.device, model: nn.Module
    ) -> None:
        super().__init__(config, vllm_config, device, model)
        self._handover = Path(_volume(files.HANDOVER_VARIABLE))
        self._staging = Path(_volume(files.STAGING_VARIABLE))
        self._rank, self._world = report.place(vllm_config)
        self._lock = threading.Lock()
        self._newest = ""  # transaction of the newest Init: an older thread must not overwrite it
        self._ready: dict[str, Ready] = {}  # by session, all of one transaction
        self._active: LoadPath | None = None
        self._sides: dict[str, Side] = {}
        try:
            self._announce()
        except Exception:  # whatever it is, such as a volume that cannot be written: it serves
            log.exception("weightrollout: no report was written, so this engine cannot be swapped")
        exit_watch.watch(self._handover, vllm_config.instance_id)

    # -- at load ----------------------------------------------------------------------------

    def _announce(self) -> None:
        """Write the report. An engine that cannot be swapped says why, and serves."""
        answers.remove_old(self._handover, self._rank)
        refusal = ("", "")
        layers: tuple[LayerReport, ...] = ()
        try:
            why = registration.untested()
            if why:
                raise SubjectError("EngineUntested", why)
            with torch.no_grad():
                self._sides = understand(self.vllm_config, self.model, self._rank)
        except SubjectError as error:
            refusal = (error.reason, str(error))
            layers = error.layers
        except Exception as error:  # a bug of ours must not keep an engine from serving
            log.exception("weightrollout: the model was not understood")
            refusal = ("PluginCrashed", repr(error))
        if refusal[0]:
            log.warning("weightrollout: this engine cannot be swapped: %s: %s", *refusal)
        target, draft = self._sides.get(TARGET), self._sides.get(DRAFT)
        found = report.report_of(
            self.vllm_config,
            rank=self._rank,
            world_size=self._world,
            boot_nonce=secrets.token_hex(8),
            facts=target.subject.facts if target else (),
            plan=target.plan if target else LoadPlan(self._rank, 0, ()),
            draft=report.draft_of(
                self.vllm_config, draft.subject.facts, draft.plan, draft.subject.layers
            )
            if draft
            else None,
            refusal=refusal,
            layers=target.subject.layers if target else layers,
        )
        records.write(files.report(self._handover, self._rank), found)

    # -- calls ------------------------------------------------------------------------------

    def parse_init_info(self, init_dict: dict[str, Any]) -> Init:
        return Init(_parsed(InitInfo, init_dict, "init_info"))

    def parse_update_info(self, update_dict: dict[str, Any]) -> Update:
        return Update(_parsed(UpdateInfo, update_dict, "update_info"))

    def init_transfer_engine(self, init_info: Init) -> None:
        """Answers at once; `prepared` tells when and how it ended."""
        info = init_info.info
        with self._lock:
            self._ready = {}
            self._newest = info.txn
        if (why := adapters.refusal(self.vllm_config, self._default_model))[0]:
            return self._answer(info, *why)
        self._heal()  # what is prepared is compared with the live tensors
        thread = threading.Thread(
            target=self._prepare, args=(info,), name="weightrollout-prepare", daemon=True
        )
        return thread.start()

    def start_weight_update(self) -> None:
        session = TARGET if self.model is self._default_model else DRAFT
        ready = self._ready.get(session)
        if ready is None:
            raise RuntimeError(f"no {session} is prepared in this process: send Init first")
        self._heal()
        self._active = ready.path
        ready.path.start()

    def update_weights(self, update_info: dict[str, Any]) -> None:
        info = self.parse_update_info(update_info).info
        ready = self._ready.get(info.session)
        if (
            ready is None
            or ready.path is not self._active
            or (ready.receipt.txn, ready.digest) != (info.txn, info.digest)
        ):
            raise RuntimeError(
                f"{info.session} of transaction {info.txn} is not prepared for {info.digest}"
            )
        begun = time.monotonic()
        ready.path.guard()
        ready.path.apply()
        if self.device.type != "cpu":
            torch.accelerator.synchronize()
        millis = 1000 * (time.monotonic() - begun)
        receipt = dataclasses.replace(ready.receipt, millis=millis)
        path = files.receipt(self._handover, info.txn, self._rank, session=info.session)
        records.write(path, receipt, sync=False)

    def _heal(self) -> None:
        for side in self._sides.values():
            heal(side.subject.model)

    def receive_weights(self, update_info: Update) -> None:
        raise NotImplementedError("update_weights does it all")

    def finish_weight_update(self) -> None:
        active, self._active = self._active, None
        if active is not None:
            active.finish()
            threading.Thread(target=active.free, name="weightrollout-free", daemon=True).start()

    def shutdown(self) -> None:
        with self._lock:
            self._ready, self._newest = {}, ""

    # -- the thread of a preparation ----------------------------------------------------------

    def _prepare(self, info: InitInfo) -> None:
        cores = spare_cores()
        if cores:
            os.sched_setaffinity(0, cores)  # of this thread: the worker's own core stays free
        try:
            ready = {TARGET: self._made_ready(info.txn, TARGET, info.digest, info.region)}
            if info.draft_digest:
                ready[DRAFT] = self._made_ready(
                    info.txn, DRAFT, info.draft_digest, info.draft_region
                )
        except (RegionError, SubjectError) as error:
            return self._answer(info, error.reason, str(error))
        except ShadowError as error:
            return self._answer(info, "ModelChanged", str(error))
        except PathError as error:
            return self._answer(info, error.reason, error.message)
        except Exception as error:  # must be told: the agent waits
            log.exception("weightrollout: %s was not prepared", info.txn)
            return self._answer(info, "PluginCrashed", repr(error))
        with self._lock:
            if self._newest != info.txn:
                return None
            self._ready = ready
        return self._answer(info, "", "")

    def _made_ready(self, txn: str, session: str, digest: str, region_name: str) -> Ready:
        side = self._sides.get(session)
        if side is None:
            raise SubjectError("EngineIncompatible", f"this engine reported no {session}")
        facts = {fact.name: fact for fact in side.subject.facts}
        region = Region(inside(self._staging, region_name), digest, side.plan, facts)
        region.populate()
        sums = region.sums()
        path = PATHS[side.path](side.subject, region, partial(self._process, side.subject))
        with torch.no_grad():
            path.prepare()
        receipt = Receipt(
            txn=txn,
            rank=self._rank,
            instance=self.vllm_config.instance_id,
            digest=digest,
            plan_id=Path(region_name).name,
            names=tuple(sorted(side.plan.consumed())),
            blocks=sums,
            pointers_ok=True,
            path=side.path,
            millis=0.0,
            session=session,
        )
        return Ready(digest, path, receipt)

    def _process(self, subject: Subject, model: nn.Module) -> None:
        from vllm.config import set_current_vllm_config
        from vllm.model_executor.model_loader.utils import process_weights_after_loading

        with set_current_vllm_config(self.vllm_config):
            process_weights_after_loading(model, subject.model_config, self.device)

    def _answer(self, info: InitInfo, reason: str, message: str) -> None:
        if reason:
            log.warning("weightrollout: %s was not prepared: %s: %s", info.txn, reason, message)
        prepared = Prepared(
            txn=info.txn,
            rank=self._rank,
            instance=self.vllm_config.instance_id,
            digest=info.digest,
            ok=not reason,
            reason=reason,
            message=message,
        )
        records.write(files.prepared(self._handover, info.txn, self._rank), prepared)


def _volume(variable: str) -> str:
    folder = os.environ.get(variable, "")
    if not folder:
        raise RuntimeError(
            f"weightrollout: {variable} is not set: it names the mount point of the volume that the"
            " engine shares with weightrollout-agent"
        )
    return folder


def _parsed(kind: type[Any], body: dict[str, Any], what: str) -> Any:
    try:
        return records.loads(kind, json.dumps(body).encode())
    except HandoverError as error:
        raise ValueError(f"Invalid {what} for WeightRolloutEngine: {error}") from error
