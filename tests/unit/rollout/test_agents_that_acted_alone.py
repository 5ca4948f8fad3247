"""An operator that comes back finds pods whose agents acted alone, and goes on from there."""

from planning.worlds import digest, ref_of, world_of
from weightrollout.api.spec import Mode
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.rollout.actions import Action, PutIn, Release, Reserve, Stage
from weightrollout.rollout.fleet import AttemptsView, TransactionView
from weightrollout.rollout.plan import plan
from weightrollout.rollout.simulate import ToyWorld

A = ref_of("a")
TXN = f"alone/{A.revision}/engine-7/6"
RUNNING = TransactionView(TXN, 6, A, SwapPhase.TRANSFERRING, None)
DONE = TransactionView(TXN, 6, A, SwapPhase.DONE, Outcome.COMMITTED)


def on_first_pod(world: ToyWorld) -> list[Action]:
    """Of one pass, but for staging, which touches no engine."""
    actions = plan(world.observe()).actions
    return [
        each
        for each in actions
        if getattr(each, "pod_uid", "") == "pod-0" and not isinstance(each, Stage)
    ]


def test_new_pod_that_serves_stable_is_put_in_and_not_swapped_again() -> None:
    world = world_of("a", 2, on="a")
    world.pods[0].version_label = ""
    world.pods[0].transaction = DONE
    (action,) = on_first_pod(world)
    assert isinstance(action, PutIn)
    assert (action.txn, action.attempt) == (TXN, 6)


def test_swap_of_an_agent_is_left_to_its_end() -> None:
    world = world_of("b", 2, on="a")
    world.pods[0].transaction = RUNNING
    assert on_first_pod(world) == []


def test_reservation_that_an_agent_did_not_use_is_given_back() -> None:
    world = world_of("b", 2, on="a")
    world.pods[0].reserved_txn = TXN
    (action,) = on_first_pod(world)
    assert isinstance(action, Release)


def test_reservation_of_an_agent_is_its_own_while_the_operator_starts_nothing() -> None:
    world = world_of("b", 2, on="a", mode=Mode.SUSPENDED)
    world.pods[0].reserved_txn = TXN
    assert on_first_pod(world) == []


def test_agents_are_left_to_themselves_while_the_operator_starts_nothing_and_only_then() -> None:
    quiet = {mode: plan(world_of("b", 2, on="a", mode=mode).observe()).quiet for mode in Mode}
    assert quiet == {Mode.RUN: False, Mode.PAUSED: False, Mode.SUSPENDED: True}


def test_next_swap_has_a_name_that_no_agent_has_used() -> None:
    world = world_of("b", 1, on="a")
    pod = world.pods[0]
    pod.transaction, pod.put_in_txn = DONE, "cr/chat-x/pod-0/5"
    for _ in range(200):
        world.one_pass()
        if pod.reserved_txn:
            break
        world.advance()
    assert pod.reserved_txn == f"cr/{ref_of('b').revision}/pod-0/7"


def test_agent_leaves_one_of_the_default_retries_to_the_operator() -> None:
    world = world_of("a", 2, on="a")
    pod = world.pods[0]
    pod.loaded, pod.ready = None, False
    pod.attempts = {digest("a"): AttemptsView(2, FailureClass.POD, "PauseFailed", "it hung")}
    pod.transaction = TransactionView(
        TXN, 6, A, SwapPhase.DONE, Outcome.UNTOUCHED, FailureClass.POD, "PauseFailed", "it hung"
    )
    seen: list[Action] = []
    while not seen and world.now < 60:
        world.advance()
        seen = [each for each in world.one_pass().actions if isinstance(each, Reserve)]
    assert seen, "it is tried once more, after a pause"
