"""What the fleet's discovery shows of these routes: where they are, and by which name the engine serves its model."""

import asyncio
import logging
from typing import Final

from weightrollout.agent import state
from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.orders import guard_word
from weightrollout.agent.rl.routes import offered
from weightrollout.agent.state import Board, TrainerPort
from weightrollout.engine.errors import EngineError
from weightrollout.engine.protocol import Lifecycle
from weightrollout.swap.book import Book
from weightrollout.wire.agent import agent_pb2 as pb

ASK_S: Final = 2.0
AGAIN_S: Final = 1.0
MAX_MODEL: Final = 500

log = logging.getLogger(__name__)


class Shown:
    """Owns `board.trainer`."""

    def __init__(
        self, engine: Lifecycle, board: Board, watch: EngineWatch, port: int, *, tls: bool
    ) -> None:
        self._engine = engine
        self._board = board
        self._watch = watch
        self._port = port
        self._tls = tls

    async def run(self) -> None:
        """Never ends by itself. An engine is asked once for each process."""
        named = ""
        self._show("")
        while True:
            rung = self._board.bell.next()
            instance = self._watch.sight.instance
            if instance in ("", named):
                await rung.wait()
                continue
            try:
                self._show(await self._engine.served_name(deadline_s=ASK_S))
                named = instance
            except EngineError as error:
                log.info("the engine's model is not known yet: %s", error)
                await asyncio.sleep(AGAIN_S)

    def _show(self, model: str) -> None:
        self._board.trainer = TrainerPort(self._port, self._tls, model)
        self._board.bell.ring()


def door(book: Book, board: Board, sight: EngineSight) -> pb.TrainerDoor | None:
    """As the operator hears it; None: the routes are shut."""
    port = board.trainer
    if port is None:
        return None
    return pb.TrainerDoor(
        port=port.number,
        tls=port.tls,
        routes=offered(sight.capabilities),
        world_size=sight.world_size,
        model=port.model[:MAX_MODEL],
        guard=guard_word(state.guard(book, board)),
        transfer_backend=sight.backend,
    )
