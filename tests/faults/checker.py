"""The ten invariants, judged over the evidence of one scenario. Pure: no clock, no I/O.

I1 nothing lost · I2 stores equal an offline rebuild · I3 one surfaced answer a question · I4 degraded if and only if
faulted · I5 an outcome by deadline + 250 ms · I6 lag back to 0 · I7 applied versions monotonic · I8 memory, descriptors
and tasks flat · I9 no secret in logs · I10 exit codes as expected. Beside them: the fault bit, and what the scenario
itself saw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.faults.evidence import LEGS, Asked, Evidence, Fault, Outcome, Sent
from tests.faults.figures import figures, overruns

CROWDED = 0.65  # of a time somebody waited for a processor; a steady load on two cores gives less than a half
OVERRUN = 0.25  # seconds after the deadline
MEMORY = 50_000_000  # bytes that a process may grow by
DESCRIPTORS = 64  # that it may open more: pools of connections fill up
TASKS = 64
LATE = frozenset({"timeout", "overloaded"})  # a leg that had no time
FLAGGED = LATE | {"error"}
SLOW = frozenset({"no reply", "timeout", "overloaded", "fence unavailable"})  # errors of whoever had no time
RECEIPT = 1.0  # seconds from a flip until its receipt is read
REACTION = 0.3  # seconds until a fault is felt by what is under way


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the checker says of a scenario: complaints by invariant, and figures."""

    complaints: Mapping[str, tuple[str, ...]]
    figures: Mapping[str, float]

    @property
    def holds(self) -> bool:
        """Whether everything holds that does not depend on how busy the machine is."""
        return not any(found for name, found in self.complaints.items() if name != "timed")


def check(evidence: Evidence) -> Verdict:
    """Judge everything."""
    complaints = {name: tuple(judge(evidence)) for name, judge in INVARIANTS.items()}
    return Verdict(
        complaints=complaints,
        figures=figures(evidence, complaints),
    )


def last_of(sent: Sequence[Sent]) -> dict[str, list[Sent]]:
    """Return by document the versions that may be its last: the highest confirmed one, and unconfirmed ones above."""
    by_doc: dict[str, list[Sent]] = defaultdict(list)
    for each in sent:
        if not each.planted:
            by_doc[each.doc].append(each)
    found = {}
    for doc, versions in by_doc.items():
        sure = max((each.version for each in versions if each.delivered), default=-1)
        found[doc] = [each for each in versions if each.version >= sure]
    return found


def nothing_lost(of: Evidence) -> list[str]:
    """I1: each document's last version is live, or its event is in a dead letter topic, once.

    Where a fault makes records come again, a dead letter may come again with them: delivery is at least once.
    """
    wrong = []
    dead = Counter((letter.doc, letter.version) for letter in of.letters)
    for doc, candidates in last_of(of.sent).items():
        stored = of.stored.get(doc)
        live = stored.version if stored else None
        allowed = {each.version for each in candidates}
        unsure = all(not each.delivered for each in candidates)
        buried = [version for version in allowed if dead[doc, version]]
        if live not in allowed and not buried and not (unsure and live is None):
            wrong.append(f"{doc}: version {live} is live, {sorted(allowed)} was sent last")
    records = Counter((letter.group, letter.topic, letter.partition, letter.offset) for letter in of.letters)
    if not of.redelivers:
        wrong += [f"{at}: {times} dead letters of one record" for at, times in records.items() if times > 1]
    wrong += [
        f"{letter.topic}[{letter.partition}]@{letter.offset} of {letter.group}: dead-lettered ({letter.error_class})"
        for letter in of.letters
        if not letter.planted
    ]
    planted = len({(each.group, each.topic, each.partition, each.offset) for each in of.letters if each.planted})
    if planted < of.planted:
        wrong.append(f"{of.planted} unreadable records were sent, {planted} are in dead letter topics")
    return wrong


def stores_equal_a_rebuild(of: Evidence) -> list[str]:
    """I2: the stores hold the chunks of the live versions and no others; no answer showed what was replaced."""
    wrong = []
    by_version = {(each.doc, each.version): each for each in of.sent}
    wanted: set[str] = set()
    for doc, stored in of.stored.items():
        sent = by_version.get((doc, stored.version if stored.version is not None else -1))
        if sent is None:
            if stored.version is not None:
                wrong.append(f"{doc}: version {stored.version} is live and was never sent")
            continue
        expected = frozenset() if sent.op == "delete" else sent.chunks
        wanted |= expected
        if stored.chunks != expected:
            more, fewer = len(stored.chunks - expected), len(expected - stored.chunks)
            wrong.append(f"{doc}: version {stored.version} has {more} chunks too many and lacks {fewer}")
    for name, held in (("postgres", of.texts), ("qdrant", of.points)):
        if ghosts := held - wanted:
            wrong.append(f"{name}: {len(ghosts)} chunks of no live version")
        if holes := wanted - held:
            wrong.append(f"{name}: lacks {len(holes)} chunks of live versions")
    return wrong + _shown_stale(of, by_version)


def _shown_stale(of: Evidence, by_version: Mapping[tuple[str, int], Sent]) -> list[str]:
    """Return answers with what was replaced before they were asked for, or with a text of another version."""
    wrong = []
    asked = {each.id: each for each in of.asked}
    receipts = sorted((each for each in of.receipts if each.status != "failed"), key=lambda each: each.at)
    by_doc: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for each in receipts:
        by_doc[each.doc].append((each.at, each.version, each.status))
    for outcome in of.outcomes:
        question = asked.get(outcome.id)
        for passage in outcome.passages if question else ():
            assert question is not None
            known = max((version for at, version, _ in by_doc[passage.doc] if at < question.at), default=-1)
            sent = by_version.get((passage.doc, passage.version))
            if passage.version < known:
                wrong.append(f"{outcome.id}: {passage.doc} version {passage.version} after a receipt for {known}")
            elif sent is None:
                wrong.append(f"{outcome.id}: {passage.doc} version {passage.version} was never sent")
            elif sent.op == "delete" or not passage.facts <= sent.facts:
                wrong.append(f"{outcome.id}: {passage.doc} version {passage.version} with the text of another one")
    return wrong


def one_answer(of: Evidence) -> list[str]:
    """I3: every question has one outcome, an answer that finds what is there unless a fault explains otherwise."""
    wrong = []
    times = Counter(outcome.id for outcome in of.outcomes)
    asked = {each.id: each for each in of.asked}
    wrong += [f"{id}: {times[id]} outcomes" for id in asked if times[id] != 1]
    wrong += [f"{id}: an outcome without a question" for id in times if id not in asked]
    for outcome in of.outcomes:
        question = asked.get(outcome.id)
        if question is None or any(_touches(fault, question, outcome) and fault.answers for fault in of.broken):
            continue
        slow = outcome.error in SLOW and (_crowded(outcome) or _searched(outcome) <= _explained(of, question, outcome))
        if outcome.error is not None and not slow:
            wrong.append(f"{outcome.id}: error {outcome.error!r} without a fault that explains it")
        elif (
            outcome.error is None
            and _must_be_found(question, outcome, of)
            and question.doc not in {each.doc for each in outcome.passages}
        ):
            wrong.append(f"{outcome.id}: {question.doc} is live and was not found")
    return wrong


def _must_be_found(question: Asked, outcome: Outcome, of: Evidence) -> bool:
    """Tell whether a document was live all the time while it was searched for, with all legs working."""
    if _overtaken(outcome) or any(_touches(fault, question, outcome) for fault in of.broken):
        return False
    # A search that a flip overtook is made again where there is time; the second flip may come too late for that.
    until = outcome.at + RECEIPT
    flips = [each for each in of.receipts if each.doc == question.doc and question.at <= each.at <= until]
    if len(flips) > (0 if _crowded(outcome) else 1):
        return False
    before = [each for each in of.receipts if each.doc == question.doc and each.at < question.at]
    if not before or max(before, key=lambda each: each.version).status != "searchable":
        return False
    newest = max(each.version for each in before)
    return not any(
        each.doc == question.doc and each.op == "delete" and each.version > newest and each.at <= outcome.at
        for each in of.sent
    )


def _crowded(outcome: Outcome) -> bool:
    """Tell whether the machine was crowded meanwhile: who was late was late for that."""
    return outcome.pressure > CROWDED


def _overtaken(outcome: Outcome) -> bool:
    """Tell whether an answer says that documents changed while they were searched for, and may be missing."""
    return any(reason.startswith("index: ") for reason in outcome.reasons)


def degraded_if_faulted(of: Evidence) -> list[str]:
    """I4: a leg is flagged if and only if it was faulted."""
    wrong = []
    asked = {each.id: each for each in of.asked}
    for outcome in of.outcomes:
        question = asked.get(outcome.id)
        if question is None or outcome.error is not None:
            continue
        flagged = {leg for leg, status in outcome.legs.items() if status in FLAGGED}
        if outcome.degraded != bool(flagged or _overtaken(outcome)):
            wrong.append(f"{outcome.id}: degraded is {outcome.degraded}, but {sorted(flagged)} did not answer")
        quiet = not any(_touches(fault, question, outcome) for fault in of.broken)  # else a receipt may come late
        if (
            quiet
            and _overtaken(outcome)
            and not any(question.at - RECEIPT <= each.at <= outcome.at + RECEIPT for each in of.receipts)
        ):
            wrong.append(f"{outcome.id}: says that documents changed, and none did")
        if unexplained := _unexplained(of, question, outcome):
            if _crowded(outcome):
                unexplained = {leg for leg in unexplained if outcome.legs[leg] not in LATE}
            if unexplained:
                said = ", ".join(f"{leg} {outcome.legs[leg]}" for leg in sorted(unexplained))
                wrong.append(f"{outcome.id}: {said} without a fault there (pressure {outcome.pressure:.0%})")
        for fault in of.faults:
            if not _touches(fault, question, outcome):
                continue
            inside = fault.begin + REACTION <= question.at and outcome.at <= fault.end
            if inside and not outcome.cached and (missed := (fault.certain & _searched(outcome)) - flagged):
                wrong.append(f"{outcome.id}: {sorted(missed)} not flagged during {fault.what}")
    return wrong


def _unexplained(of: Evidence, question: Asked, outcome: Outcome) -> set[str]:
    """Return the legs that are flagged though no fault touches them."""
    return {leg for leg, status in outcome.legs.items() if status in FLAGGED} - _explained(of, question, outcome)


def _explained(of: Evidence, question: Asked, outcome: Outcome) -> set[str]:
    """Return the legs that a fault may have kept from answering."""
    return {leg for fault in of.broken if _touches(fault, question, outcome) for leg in fault.legs}


def _searched(outcome: Outcome) -> set[str]:
    """Return the legs that were to answer; all, where nothing is said of them."""
    return {leg for leg, status in outcome.legs.items() if status != "skipped"} or set(LEGS)


def outcome_in_time(of: Evidence) -> list[str]:
    """I5: every question has its outcome by its deadline and a quarter of a second; the client's own halts excepted."""
    late = [(over, outcome) for over, outcome in overruns(of) if over - outcome.stall > OVERRUN]
    return [f"{outcome.id}: {over:.2f} s after its deadline (own halt {outcome.stall:.2f} s)" for over, outcome in late]


def lag_is_back(of: Evidence) -> list[str]:
    """I6: nothing is left to do after the load."""
    wrong = [f"{name}: {records} records behind" for name, records in of.lag.items() if records]
    return wrong if of.barriers else [*wrong, "a barrier record did not come through"]


def versions_only_rise(of: Evidence) -> list[str]:
    """I7: the live version of a document only ever rises."""
    wrong = []
    last: dict[str, int] = {}
    for each in of.applied:
        if each.version < last.get(each.doc, -1):
            wrong.append(f"{each.doc}: version {each.version} was applied after {last[each.doc]}")
        last[each.doc] = max(each.version, last.get(each.doc, -1))
    return wrong


def sizes_are_flat(of: Evidence) -> list[str]:
    """I8: what a process holds does not grow with what it has done."""
    wrong = []
    for size in of.sizes:
        for what, (before, after), limit in (
            ("bytes of memory", size.rss, MEMORY),
            ("descriptors", size.fds, DESCRIPTORS),
            ("tasks", size.tasks, TASKS),
        ):
            if after - before > limit:
                wrong.append(f"{size.process}: {before:,} → {after:,} {what}")
    return wrong


def no_secret_told(of: Evidence) -> list[str]:
    """I9: no secret is in any log."""
    return [f"a secret is in {where}" for where in of.secrets]


def exits_as_expected(of: Evidence) -> list[str]:
    """I10: a process that was killed, stopped or left alone ended, or did not end, as it should."""
    wrong = [
        f"{each.process}: exit code {each.code}, expected {' or '.join(map(str, each.expected)) or 'none'}"
        for each in of.exits
        if each.code not in each.expected
    ]
    return wrong + [
        f"{each.process}: ended {each.seconds:.1f} s after its signal"
        for each in of.exits
        if each.within is not None and each.seconds > each.within
    ]


def the_fault_bit(of: Evidence) -> list[str]:
    """A fault that met nothing in flight proves nothing."""
    if not of.faults and not of.faultless:
        return ["no fault was made"]
    return [f"{fault.what}: nothing was in flight" for fault in of.faults if fault.in_flight == 0]


def as_promised(of: Evidence) -> list[str]:
    """What goes beyond the invariants and the scenario itself looked at."""
    return list(of.own)


def in_promised_time(of: Evidence) -> list[str]:
    """Times that a busy machine does not keep: take-over, and what the scenario measured."""
    bound = of.takeover_bound
    late = [
        f"{name}: taken over after {seconds:.1f} s, more than {bound:.1f} s"
        for name, seconds in of.takeovers.items()
        if bound is not None and seconds > bound
    ]
    asked = {each.id: each for each in of.asked}
    crowded = [outcome for outcome in of.outcomes if _crowded(outcome) and outcome.id in asked]
    slow = sum(
        any(outcome.legs[leg] in LATE for leg in _unexplained(of, asked[outcome.id], outcome)) for outcome in crowded
    )
    silent = sum(
        outcome.error in SLOW
        and not any(fault.answers and _touches(fault, asked[outcome.id], outcome) for fault in of.broken)
        for outcome in crowded
    )
    told = [f"{slow} answers without a leg that had no time on a crowded machine"] if slow else []
    told += [f"{silent} questions without an answer for lack of time on a crowded machine"] if silent else []
    return [*of.timed, *late, *told, *(each.what for each in of.held_up)]


Judge = Callable[[Evidence], list[str]]
INVARIANTS: Mapping[str, Judge] = {
    "I1": nothing_lost,
    "I2": stores_equal_a_rebuild,
    "I3": one_answer,
    "I4": degraded_if_faulted,
    "I5": outcome_in_time,
    "I6": lag_is_back,
    "I7": versions_only_rise,
    "I8": sizes_are_flat,
    "I9": no_secret_told,
    "I10": exits_as_expected,
    "bit": the_fault_bit,
    "own": as_promised,
    "timed": in_promised_time,
}


def _touches(fault: Fault, question: Asked, outcome: Outcome) -> bool:
    return question.at < fault.end + fault.settle and outcome.at > fault.begin
