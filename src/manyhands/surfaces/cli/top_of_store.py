"""A store of this machine, or a database: the book follows the journal, and wishes are left as requests."""

import os
from collections.abc import Sequence

from manyhands.core.book import Book
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.api.store_follower import StoreFollower
from manyhands.surfaces.cli.approvals import user_name
from manyhands.surfaces.cli.top_source import CARDS_MAX, TASKS_MAX, Card, TaskAct, TopSight
from manyhands.surfaces.verbs import host_verbs, run_verbs, task_verbs
from manyhands.surfaces.verbs.approval_verbs import check_is_person, say_to_task
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.inbox_verbs import list_inbox
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted, ask, wish_for_task
from manyhands.surfaces.verbs.store_view import View, find_run
from manyhands.surfaces.verbs.task_report import last_lines, report_task
from manyhands.surfaces.verbs.task_verbs import TaskFilter, TaskRow


class FollowedView(View):
    """A store whose book is not read anew for every look."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.follower = StoreFollower(self.place)

    @property
    def book(self) -> Book:
        return self.follower.book


class StoreSource:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._view = FollowedView(config)
        self._redact = View(config).secrets.redact
        self.place = str(config.store_at)

    def look(self, run: str | None, text: str) -> TopSight:
        view = self._view
        view.follower.look()
        shown = find_run(view.book, run)
        tasks = task_verbs.list_tasks(view, [shown], TaskFilter(text=text), TASKS_MAX)
        running = task_verbs.list_tasks(view, [shown], TaskFilter(state="running"), CARDS_MAX).tasks
        return TopSight(
            run=run_verbs.run_row(shown),
            hosts=host_verbs.list_hosts(view).hosts,
            tasks=tasks,
            cards=self._cards(running),
            waits_for_person=list_inbox(view).total,
            is_dispatching=view.is_dispatching,
        )

    def _cards(self, running: Sequence[TaskRow]) -> list[Card]:
        return [Card(row.task, row.host or "", row.for_s or 0.0, self._last_line(row)) for row in running]

    def _last_line(self, row: TaskRow) -> str:
        return last_line(self._redact(last_lines(output_path(self._view.directory, row.run, row.task, row.attempt))))

    def log(self, run: str, task: str) -> str:
        record = find_run(self._view.book, run).records.get(task)
        return self._redact(report_task(self._view, record).output) if record is not None else ""

    def ask_task(self, run: str, task: str, act: TaskAct) -> str:
        view = View(self._config)
        if act is TaskAct.APPROVE:
            check_is_person(os.environ)
            return self._ask(view, say_to_task(view, act.value, task, run, by=user_name()))
        return self._ask(view, wish_for_task(view, act.value, task, run))

    def ask_run(self, run: str, pauses: bool) -> str:
        view = View(self._config)
        return self._ask(view, run_verbs.pause_run(view, run) if pauses else run_verbs.resume_run(view, run))

    def ask_host(self, host: str, pauses: bool) -> str:
        view = View(self._config)
        wanted = host_verbs.pause_host(view, host, "paused in `manyhands top`") if pauses else None
        return self._ask(view, wanted or host_verbs.resume_host(view, host))

    def ask_width(self, host: str, width: int | None) -> str:
        view = View(self._config)
        return self._ask(view, host_verbs.set_width(view, host, width))

    def _ask(self, view: View, wanted: Wanted[RequestKept]) -> str:
        return ask(view, wanted).done


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
