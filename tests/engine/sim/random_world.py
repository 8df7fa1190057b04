"""A seeded world for the core: random plans on random hosts, and everything that can happen to them.

One seed is one story. After every step the book must be sound; where the story breaks off (a crash), the journal and
the newest snapshot must both lead back to the same state.
"""

from collections.abc import Callable, Sequence
from random import Random

from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import AnyCommand, RunEnded, StartAttempt, StopAttempt, WakeAt
from manyhands.core.explain import explain
from manyhands.core.invariants import violations
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.host import Host, Rule, Width
from manyhands.core.values.task import TERMINAL, Claims, Task, TaskState

KINDS = ("code", "text", "audit")
PATHS = ("src/a", "src/b", "src/**", "docs/*.md", "docs/x.md", "db:main", "lib/", "**")
LOST = Ending(EndingKind.LOST, "the dispatcher died")
STOPPED = Ending(EndingKind.CANCELLED, "stopped")


#: Is shown the scheduler and the latest events after every step.
Onlooker = Callable[[Scheduler, Sequence[ev.AnyEvent]], None]


class World:
    def __init__(self, seed: int, onlooker: Onlooker | None = None) -> None:
        self.random = Random(seed)
        self.onlooker = onlooker
        self.at = 0.0
        self.scheduler = Scheduler()
        self.journal: list[ev.AnyEvent] = []
        self.saved: tuple[int, bytes] = (0, b"")
        self.stopping: dict[int, None] = {}
        self.wake_at: float | None = None
        self.touched: dict[str, bool] = {}
        self.named = 0
        self.starts = 0
        self.hosts = self._some_hosts()
        self.rules = (Rule("audit", "code", self.random.randrange(3)),) if self.random.random() < 0.3 else ()
        self.play(ev.HostsConfigured(self.at, self.hosts, self.rules))
        for run in ("r", "s")[: self.random.choice((1, 1, 2))]:
            self.play(*self._opening(run), *(self._submission(run) for _ in range(self.random.choice((1, 1, 3)))))

    # The story

    def live(self, steps: int) -> None:
        for _ in range(steps):
            if self.random.random() < 0.7:
                self.at += self.random.choice((0.0, 0.1, 1.0, 7.0))
            if self.random.random() < 0.04:
                self.crash()
            elif self.random.random() < 0.05:
                self.saved = (len(self.journal), snapshot.save(self.scheduler))
            elif self.wake_at is not None and self.random.random() < 0.3:
                self.at = max(self.at, self.wake_at)
                self.play(ev.Woke(self.at))
            else:
                self.play(*self._some_events())

    def come_to_rest(self) -> None:
        """Everything that keeps work back is lifted; what can be done then is done."""
        book = self.scheduler.book
        self.play(*(ev.HostResumed(self.at, name) for name in book.hosts))
        self.play(*(ev.WidthSet(self.at, name, None) for name in book.hosts))
        for run in list(book.runs.values()):
            self.play(ev.RunResumed(self.at, run.name))
            self.play(*(ev.ResumeAsked(self.at, run.name, id) for id in run.records))
        for _ in range(10_000):
            if book.running:
                self.at += 1.0
                self.play(*(ev.AttemptEnded(self.at, attempt, DONE) for attempt in list(book.running)))
            elif any(run.counts[TaskState.BACKOFF] for run in book.runs.values()):
                assert self.wake_at is not None, "in backoff, and nobody will wake it"
                self.at = max(self.at, self.wake_at)
                self.play(ev.Woke(self.at))
            else:
                return
        raise AssertionError("it never comes to rest")

    def put_away(self) -> None:
        """All runs are asked to leave the book; those with anything left to do stay."""
        runs = self.scheduler.book.runs
        left = [name for name, run in runs.items() if run.unfinished]
        self.play(*(ev.RunPutAway(self.at, name) for name in runs))
        assert [*self.scheduler.book.runs] == left

    def play(self, *happened: ev.Input) -> list[AnyCommand]:
        if not happened:
            return []
        self._note_touched(happened)
        step = self.scheduler.handle(happened)
        batch = [*(event for event in happened if not isinstance(event, ev.Woke)), *step.decisions]
        self.journal += batch
        if self.onlooker is not None:
            self.onlooker(self.scheduler, batch)
        for command in step.commands:
            self._obey(command)
        assert violations(self.scheduler.book) == []
        return step.commands

    def crash(self) -> None:
        """Both ways back lead to the same state, and on from there in the same way."""
        replayed, loaded = Scheduler(), Scheduler()
        replayed.replay(self.journal)
        seq, data = self.saved
        if data:
            assert snapshot.load(loaded, data)
        loaded.replay(self.journal[seq:])
        for again in (replayed, loaded):
            again.replay([ev.Woke(self.scheduler.book.at)])  # moments in which nothing else happened are not kept
            assert violations(again.book) == []
            assert_same(again, self.scheduler)
        for run in self.touched:
            self.touched[run] = True
        lost = [ev.AttemptEnded(self.at, attempt, LOST) for attempt in replayed.book.running]
        restart = (*lost, ev.HostsConfigured(self.at, self.hosts, self.rules))
        assert loaded.handle(restart) == replayed.handle(restart)
        assert_same(loaded, replayed)
        again = Scheduler()
        again.replay(self.journal)
        again.replay([ev.Woke(self.scheduler.book.at)])
        self.scheduler = again
        self.stopping, self.wake_at = {}, None
        self.play(*restart)
        assert_same(self.scheduler, loaded)

    def _obey(self, command: AnyCommand) -> None:
        match command:
            case StopAttempt(attempt):
                self.stopping[attempt] = None
            case WakeAt(at):
                self.wake_at = at
            case StartAttempt():
                self.starts += 1
            case RunEnded(run):
                assert self.touched[run], f"run {run} was said to have ended twice"
                self.touched[run] = False

    def _note_touched(self, happened: tuple[ev.Input, ...]) -> None:
        book = self.scheduler.book
        for event in happened:
            run = getattr(event, "run", None)
            if isinstance(event, ev.AttemptEnded) and event.attempt in book.running:
                run = book.running[event.attempt].record.run
            if run is not None:
                self.touched[run] = True

    # What may happen

    def _some_events(self) -> list[ev.Input]:
        happened: list[ev.Input] = []
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            happened += self._endings() if self.random.random() < 0.7 else self._wish()
        return happened

    def _endings(self) -> list[ev.Input]:
        running = list(self.scheduler.book.running)
        if not running:
            return []
        ended: list[ev.Input] = []
        for attempt in self.random.sample(running, self.random.randint(1, len(running))):
            ending = STOPPED if attempt in self.stopping and self.random.random() < 0.8 else self._ending()
            ended.append(ev.AttemptEnded(self.at, attempt, ending))
            if self.random.random() < 0.1:
                ended.append(ended[-1])  # told twice
        return ended

    def _ending(self) -> Ending:
        draw = self.random.random()
        if draw < 0.7:
            return DONE
        if draw < 0.8:
            return Ending(EndingKind.FAILED, "exit 1", permanent=self.random.random() < 0.2)
        if draw < 0.87:
            return Ending(EndingKind.OVERLOADED, "429", retry_after_s=self.random.choice((None, 3.0)))
        return Ending(self.random.choice(list(EndingKind)), "as it happens")

    def _wish(self) -> list[ev.Input]:
        book, at, random = self.scheduler.book, self.at, self.random
        run = random.choice([*book.runs])
        task = random.choice([*book.runs[run].records])
        host = random.choice([*book.hosts])
        return random.choice(
            (
                lambda: [ev.CancelAsked(at, run, task)],
                lambda: [ev.CancelAsked(at, run, "" if random.random() < 0.2 else task)],
                lambda: [ev.RetryAsked(at, run, task)],
                lambda: [ev.RetryAsked(at, run, task, again=True)],
                lambda: [ev.DeferAsked(at, run, task)],
                lambda: [ev.ResumeAsked(at, run, task)],
                lambda: [ev.HostPaused(at, host, "a break", random.choice((None, at + 5.0)))],
                lambda: [ev.HostResumed(at, host)],
                lambda: [ev.WidthSet(at, host, random.choice((None, 0, 1, 3)))],
                lambda: [random.choice((ev.RunDrained, ev.RunStopped))(at, run)],
                lambda: [ev.RunResumed(at, run, random.choice((None, 1, 3)), random.random() < 0.2)],
                lambda: [ev.RunResumed(at, run)],
                lambda: [self._submission(run)],
                lambda: [self._reconfigured()],
            )
        )()

    def _reconfigured(self) -> ev.HostsConfigured:
        self.hosts = self._some_hosts()
        return ev.HostsConfigured(self.at, self.hosts, self.rules)

    def _some_hosts(self) -> tuple[Host, ...]:
        random = self.random
        width = random.randint(1, 4)
        hosts = [Host("all", width=Width(width, width, width), resources={"gpu": 2.0})]
        for name in ("b", "c")[: random.randrange(3)]:
            most = random.randint(1, 3)
            width = random.choice((Width(most, most, most), Width(1, None, most + 3), Width(1, most, most + 3)))
            kinds = random.choice((("*",), ("code", "text"), ("a*",)))
            lanes = {"code": 1} if random.random() < 0.3 else {}
            fallback = random.random() < 0.2
            hosts.append(Host(name, kinds, width=width, lanes=lanes, fallback=fallback))
        return tuple(hosts)

    def _opening(self, run: str) -> list[ev.Input]:
        random = self.random
        concurrency = random.choice((None, None, 1, 3))
        fail_fast = random.random() < 0.1
        return [ev.RunOpened(self.at, run, random.randrange(99), concurrency, fail_fast, parents={"epic": 2})]

    def _submission(self, run: str) -> ev.TasksSubmitted:
        first = self.named
        count = self.random.randint(1, 12)
        self.named += count
        return ev.TasksSubmitted(self.at, run, tuple(self._task(n) for n in range(first, first + count)))

    def _task(self, number: int) -> Task:
        random = self.random
        needs = tuple(f"t{random.randrange(number)}" for _ in range(random.choice((0, 0, 0, 1, 2))) if number)
        return Task(
            f"t{number}",
            kind=random.choice(KINDS),
            priority=random.choice((0, 1, 2, 2, 2, 3, 4)),
            needs=needs,
            claims=self._claims(),
            run=("true",),
            timeout=random.choice((None, None, 5.0)),
            attempts=random.randint(1, 3),
            parent=random.choice(("", "", "epic")),
            preemptible=random.random() < 0.3,
            barrier=random.random() < 0.08,
            deferred=random.random() < 0.05,
            resources={"gpu": float(random.randint(1, 2))} if random.random() < 0.1 else None,
        )

    def _claims(self) -> Claims:
        def some() -> tuple[str, ...]:
            return tuple(self.random.sample(PATHS, self.random.choice((0, 0, 1, 2))))

        return Claims(some(), some(), some()) if self.random.random() < 0.5 else Claims()


def assert_same(one: Scheduler, other: Scheduler) -> None:
    mine, theirs = snapshot.save(one), snapshot.save(other)
    if mine != theirs:  # the whole difference is long; the first of it says enough
        at = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b)
        raise AssertionError(
            f"they differ from byte {at}: {mine[at - 60 : at + 40]!r} and {theirs[at - 60 : at + 40]!r}"
        )


def unfinished_without_reason(scheduler: Scheduler) -> list[str]:
    """Tasks that nothing lasting keeps from their end: a need never submitted, or a rule and who waits behind it."""
    book = scheduler.book
    odd: list[str] = []
    for run in book.runs.values():
        for record in run.records.values():
            reasons = explain(book, record, book.at)
            lasting = record.held or (record.state is TaskState.BLOCKED and _waits_for_ever(run.records, record.task))
            if not all(reasons) or (record.state not in TERMINAL and not lasting):
                odd.append(f"{record.task.id} is {record.state}: {reasons}")
    return odd


def _waits_for_ever(records: dict[str, "object"], task: Task) -> bool:
    for need in task.needs:
        record = records.get(need)
        if record is None or record.held:  # type: ignore[attr-defined]
            return True
        if record.state is TaskState.BLOCKED and _waits_for_ever(records, record.task):  # type: ignore[attr-defined]
            return True
    return False
