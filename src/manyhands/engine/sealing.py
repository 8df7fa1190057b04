"""What must not be written: values of `env`, and secrets in what attempts report."""

from msgspec.structs import replace

from manyhands.core.events import Input, TaskEdited, TasksSubmitted, WorkHandedIn
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question
from manyhands.core.values.task import Task
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.contract.env_vault import EnvVault

#: The events that bring such things: values of `env`, or what an agent reports.
WITH_SECRETS = (TasksSubmitted, TaskEdited, WorkHandedIn)


class Sealing:
    """Takes secrets out of what is written, and gives tasks their values back when they start."""

    def __init__(self, vault: EnvVault, secrets: Secrets | None) -> None:
        self.vault = vault
        self._secrets = secrets

    def sealed(self, event: Input) -> Input:
        """The event without values of `env`; its attempts get them back from the vault."""
        match event:
            case TasksSubmitted():
                tasks = event.tasks
            case TaskEdited():
                tasks = (event.task,)
            case WorkHandedIn():
                return replace(event, ending=self.of_ending(event.ending))
            case _:
                return event
        for task in tasks:
            self._learn(task)
        return self.vault.sealed_event(event)

    def opened(self, task: Task) -> Task:
        """The task with its values. Raises `ValueMissing` if the vault does not have one."""
        task = self.vault.opened(task)
        self._learn(task)
        return task

    def of_ending(self, ending: Ending) -> Ending:
        return ending if self._secrets is None else self._secrets.left_out_of(ending)

    def of_question(self, question: Question) -> Question:
        return question if self._secrets is None else self._secrets.left_out_of_question(question)

    def of_text(self, text: str) -> str:
        return text if self._secrets is None else self._secrets.redact(text)

    def ending_without(self, variable: str) -> Ending:
        """The journal has no values of `env`, so an attempt cannot start without the vault."""
        where = self.vault.directory
        return Ending(
            EndingKind.FAILED,
            f"the value of its variable `{variable}` is not in `{where}`; run its plan again, or add it again",
            permanent=True,
        )

    def _learn(self, task: Task) -> None:
        if self._secrets is not None and task.env:
            self._secrets.learn(task.env)
