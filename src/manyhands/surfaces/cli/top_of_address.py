"""A dispatcher at an address: the same rows, and the same wishes, over HTTP."""

import os
from typing import Any, TypeVar

import msgspec

from manyhands.errors import ManyhandsError
from manyhands.surfaces.cli.approvals import user_name
from manyhands.surfaces.cli.over_http import RemoteDispatcher, path_of
from manyhands.surfaces.cli.top_of_store import last_line
from manyhands.surfaces.cli.top_source import CARDS_MAX, TASKS_MAX, Card, TaskAct, TopSight
from manyhands.surfaces.verbs.approval_verbs import check_is_person
from manyhands.surfaces.verbs.host_verbs import HostList
from manyhands.surfaces.verbs.inbox_verbs import Inbox
from manyhands.surfaces.verbs.run_verbs import RunReport
from manyhands.surfaces.verbs.task_report import TaskReport
from manyhands.surfaces.verbs.task_verbs import TaskList

T = TypeVar("T")


class AddressSource:
    def __init__(self, dispatcher: RemoteDispatcher, url: str) -> None:
        self._dispatcher = dispatcher
        self.place = url

    def look(self, run: str | None, text: str) -> TopSight:
        name = run or self._dispatcher.newest_run()
        running = self._get("/tasks", TaskList, run=name, state="running", limit=str(CARDS_MAX))
        return TopSight(
            run=self._get(path_of("runs", name), RunReport),
            hosts=self._get("/hosts", HostList).hosts,
            tasks=self._get("/tasks", TaskList, run=name, q=text[:300], limit=str(TASKS_MAX)),
            cards=[
                Card(row.task, row.host or "", row.for_s or 0.0, last_line(self.log(name, row.task)))
                for row in running.tasks
            ],
            waits_for_person=self._get("/inbox", Inbox).total,
            is_dispatching=True,  # it has answered
        )

    def log(self, run: str, task: str) -> str:
        try:
            return self._get(path_of("tasks", run, task), TaskReport).output
        except ManyhandsError:
            return ""

    def ask_task(self, run: str, task: str, act: TaskAct) -> str:
        if act is TaskAct.APPROVE:
            check_is_person(os.environ)
            return self._ask("POST", path_of("tasks", run, task, act.value), {"by": user_name()})
        return self._ask("POST", path_of("tasks", run, task, act.value))

    def ask_run(self, run: str, pauses: bool) -> str:
        return self._ask("POST", path_of("runs", run, "pause" if pauses else "resume"))

    def ask_host(self, host: str, pauses: bool) -> str:
        if not pauses:
            return self._ask("POST", path_of("hosts", host, "resume"))
        return self._ask("POST", path_of("hosts", host, "pause"), {"why": "paused in `manyhands top`"})

    def ask_width(self, host: str, width: int | None) -> str:
        return self._ask("PUT", path_of("hosts", host, "width"), {"width": width})

    def _get(self, path: str, kind: type[T], **query: str) -> T:
        return msgspec.convert(self._dispatcher.ask("GET", path, **query), kind)

    def _ask(self, method: str, path: str, body: Any = None) -> str:
        return str(self._dispatcher.ask(method, path, body)["done"])
