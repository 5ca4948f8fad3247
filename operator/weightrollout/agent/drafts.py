"""What becomes of the engine's speculative draft when some weights are loaded. Pure.

A draft that nobody named is loaded where staging found it in the target's own checkpoint; its image
was made visible before the target's, so no image means that it was not there.
"""

from typing import Final

from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.state import Board
from weightrollout.swap.records import Content, DraftLoad

#: Methods of speculation that have no weights; another one without a draft's report has some that
#: its plugin cannot load.
WEIGHTLESS: Final = frozenset({"", "ngram", "ngram_gpu", "suffix"})


def holds(board: Board, content: Content, sight: EngineSight) -> bool:
    """Everything that these weights need is staged."""
    if content.digest not in board.staged or not content.proofs <= board.signed:
        return False
    if content.draft is None:
        return True
    needed = sight.draft_plan_id != "" or content.draft.digest is not None
    return not needed or content.draft_digest in board.drafts_staged


def load_of(board: Board, content: Content | None, sight: EngineSight) -> DraftLoad | None:
    """None where there is no draft, or nothing to load."""
    method = (sight.reports[0].speculative or "") if sight.reports else ""
    if content is None or method in WEIGHTLESS:
        return None
    here = sight.draft_plan_id != "" and content.draft_digest in board.drafts_staged
    return DraftLoad(method, content.draft_digest if here else "")
