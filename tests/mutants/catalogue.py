"""The mutants: which guard is removed, and which tests must see it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    invariant: int  # of the design, 1 to 12
    guard: str  # what the removed code does
    file: str  # under operator/weightrollout
    old: str  # occurs exactly once there
    new: str
    tests: tuple[str, ...]  # under tests; at least one must go red


_TABLES: Final = "unit/rollout/test_tables.py::"
_STORY: Final = "unit/rollout/test_stories.py::test_story_ends_well_in_any_order"
_MATRIX: Final = "property/test_kill_matrix.py::"
_ONE_KILL: Final = (
    f"{_MATRIX}test_invariant_6_one_kill_or_lost_call_at_any_boundary_ends_in_the_right_weights"
)
_ENGINE: Final = "property/test_swap_against_an_engine.py"
_LOADED: Final = "unit/agent/test_what_is_loaded.py::"
_READY: Final = "unit/agent/test_readiness.py::"
_COMES: Final = "unit/agent/test_agent_comes_and_goes.py::"

MUTANTS: Final = (
    Mutant(
        "one pod too many",
        1,
        "a serving pod is taken out only while out + soaking + 1 fits",
        "rollout/budget.py",
        "if budget.used + 1 <= budget.limit:",
        "if budget.used <= budget.limit:",
        (f"{_TABLES}test_budget", f"{_STORY}[percent_budget_of_3_pods-0]"),
    ),
    Mutant(
        "soaking is free",
        1,
        "pods that soak use the budget",
        "rollout/budget.py",
        "return len(self.engaged) + len(self.unready) + len(self.soaking)",
        "return len(self.engaged) + len(self.unready)",
        (f"{_TABLES}test_budget", f"{_STORY}[soak-0]"),
    ),
    Mutant(
        "out begins with the answer",
        1,
        "a pod counts as out from the moment that Reserve is sent",
        "rollout/classify.py",
        "    if work.keys() & TAKES_OUT:\n        return True\n",
        "",
        (f"{_TABLES}test_a_pod_counts_as_out",),
    ),
    Mutant(
        "no settling",
        2,
        "weights change only settleSeconds after Ready=False was seen",
        "rollout/podstep.py",
        "return seen + situation.fleet.spec.swap.settle_seconds",
        "return seen",
        (f"{_STORY}[settle_time_is_kept_after_a_takeover-0]", f"{_STORY}[plain_rollout-0]"),
    ),
    Mutant(
        "swap while Ready",
        2,
        "nothing starts before Ready=False was observed",
        "rollout/podstep.py",
        "    if pod.view.ready:\n        if situation.fleet.now",
        "    if False:\n        if situation.fleet.now",
        (f"{_TABLES}test_invariant_2_reserved_pod_that_is_still_ready_is_never_swapped",),
    ),
    Mutant(
        "pause on its word",
        2,
        "a Pause that was answered is confirmed before Start",
        "swap/table.py",
        "Final = frozenset({Step.PAUSE, Step.FINISH, Step.LABEL, Step.DRAFT_CLOSE, Step.RESUME})",
        "Final = frozenset({Step.FINISH, Step.LABEL, Step.DRAFT_CLOSE, Step.RESUME})",
        (f"{_ONE_KILL}[endpoint]", _ENGINE),
    ),
    Mutant(
        "proof outlives its engine",
        3,
        "what was proven holds for one engine process only",
        "agent/state.py",
        "if serving is not None and serving.instance == sight.instance:",
        "if serving is not None:",
        (f"{_LOADED}test_proof_holds_for_one_engine_process_only",),
    ),
    Mutant(
        "old proof in mid-swap",
        3,
        "from a possible Start to the journaled end nothing is proven",
        "swap/records.py",
        "return self.holds is not Holds.OLD or self.step is Step.START",
        "return self.holds is Holds.GONE or self.step is Step.START",
        (
            f"{_LOADED}test_nothing_is_proven_from_a_possible_start_to_the_end",
            f"{_ONE_KILL}[in service]",
        ),
    ),
    Mutant(
        "commit without receipts",
        3,
        "Finish needs receipts that match the image",
        "swap/machine.py",
        "        case Step.UPDATE:\n            return _send(state, Step.RECEIPTS)",
        "        case Step.UPDATE:\n            return _send(state, Step.FINISH)",
        (
            "unit/swap/test_machine.py::test_swap_that_goes_well_asks_each_call_once",
            "property/test_swap_machine.py",
        ),
    ),
    Mutant(
        "updated by version alone",
        3,
        "`updated` is judged by digest and version",
        "rollout/classify.py",
        "return ref.digest is not None and loaded.digest == ref.digest and loaded.version == ref.version",
        "return ref.digest is not None and loaded.version == ref.version",
        (f"{_TABLES}test_a_pod_is_in_one_class",),
    ),
    Mutant(
        "half-loaded is resumed",
        4,
        "a transfer that failed is sent again whole before anything is resumed",
        "swap/table.py",
        'Move.RESEND,\n        "half-loaded: only a whole cycle makes it whole"',
        'Move.RESUME,\n        "half-loaded: only a whole cycle makes it whole"',
        (f"{_ONE_KILL}[endpoint]", "property/test_swap_machine.py"),
    ),
    Mutant(
        "resume on its word",
        4,
        "a Resume that was answered is confirmed",
        "swap/table.py",
        "Final = frozenset({Step.PAUSE, Step.FINISH, Step.LABEL, Step.DRAFT_CLOSE, Step.RESUME})",
        "Final = frozenset({Step.PAUSE, Step.FINISH, Step.LABEL, Step.DRAFT_CLOSE})",
        (_ENGINE, "property/test_swap_machine.py"),
    ),
    Mutant(
        "wrong answers stay",
        4,
        "weights that fail their prompts are undone",
        "swap/table.py",
        'Move.UNDO,\n        "loaded as staged, and wrong',
        'Move.SEND_AGAIN,\n        "loaded as staged, and wrong',
        (
            "unit/swap/test_machine.py::test_wrong_answer_stops_the_engine_before_anything_else",
            _ENGINE,
        ),
    ),
    Mutant(
        "poisoned is ready",
        5,
        "an engine that holds nothing one can name is out of service",
        "agent/readiness.py",
        "    if facts.poisoned:\n",
        "    if False:\n",
        (f"{_READY}test_gravest_reason_is_given",),
    ),
    Mutant(
        "anything may answer",
        5,
        "what is loaded must be what the pod is meant to serve",
        "agent/readiness.py",
        "if not loaded.same_weights(wanted):",
        "if False:",
        (
            f"{_READY}test_pod_is_ready_exactly_when_every_rule_holds",
            f"{_COMES}test_restarted_engine_is_not_ready_with_its_base_weights",
        ),
    ),
    Mutant(
        "foreign label is believed",
        5,
        "a version that someone else set ends the proof",
        "agent/state.py",
        "return None if renamed else serving.content",
        "return serving.content",
        (f"{_LOADED}test_label_that_someone_else_changed_ends_the_proof",),
    ),
    Mutant(
        "effect before intent",
        6,
        "Start is journaled before it is sent",
        "swap/run.py",
        "Step.CLOSE, Step.START, Step.UPDATE, Step.FINISH,",
        "Step.CLOSE, Step.FINISH,",
        (f"{_ONE_KILL}[endpoint]",),
    ),
    Mutant(
        "crash counts as an answer",
        6,
        "a call that a dead agent left is one with an unknown outcome",
        "swap/machine.py",
        "return replace(_blame(state, restarted), looking=Answer.UNKNOWN)",
        "return replace(_blame(state, restarted), looking=Answer.REFUSED)",
        (f"{_ONE_KILL}[endpoint]", _ENGINE),
    ),
    Mutant(
        "journal in place",
        6,
        "the journal is replaced whole or not at all",
        "swap/journal.py",
        "            temporary.write_bytes(_BOOK.dump_json(book))\n            temporary.replace(self.path)",
        "            self.path.write_bytes(_BOOK.dump_json(book)[:-20])\n"
        "            self.path.write_bytes(_BOOK.dump_json(book))",
        ("unit/swap/test_journal.py",),
    ),
    Mutant(
        "old promise is kept",
        7,
        "a reservation for weights that are not wanted any more is given back",
        "rollout/podstep.py",
        "if txn != txn_id(situation.fleet.uid, want.revision, pod.uid, next_attempt(pod)):",
        "if False:",
        (
            f"{_TABLES}test_invariant_7_promise_for_weights_that_are_not_wanted_any_more_is_given_back",
        ),
    ),
    Mutant(
        "oldest last",
        7,
        "the pod with the oldest weights goes first",
        "rollout/order.py",
        "(pod.in_service, _age(pod, revisions), pod.name)",
        "(pod.in_service, -_age(pod, revisions), pod.name)",
        (f"{_TABLES}test_order_is_not_serving_then_oldest_then_name",),
    ),
    Mutant(
        "any shape",
        8,
        "shapes are compared before the pause",
        "weights/preflight.py",
        "if tensor.shape != fact.shape:",
        "if False:",
        ("unit/weights/test_checkpoint_cover.py",),
    ),
    Mutant(
        "NaN is let through",
        8,
        "every value is looked at while it is read",
        "weights/scatter.py",
        "            bad = finite.first_not_finite(span.tensor.dtype, data[at : at + span.bytes])",
        "            bad = None",
        ("unit/weights/test_staging_refusals.py",),
    ),
    Mutant(
        "other tokenizer",
        8,
        "what an engine reads once must be what it was started with",
        "weights/preflight.py",
        "            if mine == its:\n",
        "            if mine == its or True:\n",
        ("unit/weights/test_checkpoint_cover.py",),
    ),
    Mutant(
        "no way back",
        9,
        "last good is loaded when the target fails",
        "swap/machine.py",
        "if state.source is Source.TARGET and state.request.last_good is not None:",
        "if False:",
        ("unit/swap/test_machine.py", f"{_ONE_KILL}[wrong weights]"),
    ),
    Mutant(
        "back to the rejected",
        9,
        "a rejected revision is left for stable",
        "rollout/target.py",
        "        return Goal(desired, fallback, stable, known)\n    return Goal(desired, desired, stable, known)",
        "        return Goal(desired, desired, stable, known)\n    return Goal(desired, desired, stable, known)",
        (f"{_STORY}[failed_prompt_touches_one_pod-0]",),
    ),
    Mutant(
        "joiners prove",
        9,
        "pods that join load stable until the target is proven",
        "rollout/situation.py",
        "return _must_not_prove(pod, situation) or _is_promised(pod, situation.fallback)",
        "return False",
        (f"{_TABLES}test_invariant_9_pod_that_joins_loads_stable_while_another_one_proves",),
    ),
    Mutant(
        "old leader is obeyed",
        10,
        "a call of an older epoch is refused",
        "agent/fence.py",
        "if fence.epoch < book.epoch:",
        "if False:",
        ("unit/agent/test_fence.py::test_leader_that_was_replaced_is_told_the_epoch_it_lost_to",),
    ),
    Mutant(
        "twice at once",
        10,
        "an action that runs is not started a second time",
        "controller/act/supervisor.py",
        "            if work not in running:\n",
        "            if True:\n",
        ("unit/controller/test_actions.py::test_action_that_runs_is_not_started_a_second_time",),
    ),
    Mutant(
        "namesake is blessed",
        10,
        "a pod that was recreated under the same name is another pod",
        "kube/podwrites.py",
        "                if pod is None or pod.uid != uid:\n",
        "                if pod is None:\n",
        ("unit/kube/test_pod_writes.py",),
    ),
    Mutant(
        "all prove at once",
        11,
        "the first pod of a new digest goes alone",
        "rollout/situation.py",
        "return self.goal.target.ref.digest not in self.proven",
        "return False",
        (f"{_STORY}[first_pod_that_fails_for_good_rejects-0]", "property/test_planner.py"),
    ),
    Mutant(
        "bad store rolls back",
        11,
        "a failure of the environment is nobody's verdict",
        "rollout/verdict.py",
        "        and staging.failure_class is FailureClass.WEIGHTS\n",
        "        and staging.failure_class is not None\n",
        (f"{_STORY}[environment_never_rolls_back-0]",),
    ),
    Mutant(
        "reserved for ever",
        12,
        "a reservation of an operator that fell silent ends by its ttl",
        "agent/swaps.py",
        "self._expiry = loop.call_later(reservation.ttl_s, self._expire, reservation.txn)",
        "self._expiry = loop.call_later(1e9, self._expire, reservation.txn)",
        (f"{_COMES}test_reservation_of_a_silent_operator_ends_by_its_ttl",),
    ),
    Mutant(
        "ttl is forgotten",
        12,
        "a restarted agent still ends the reservation that it found",
        "agent/swaps.py",
        "        if journal.book.reservation is not None:\n            self._arm(journal.book.reservation)\n",
        "",
        (f"{_COMES}test_reservation_survives_a_restart_of_the_agent",),
    ),
)
