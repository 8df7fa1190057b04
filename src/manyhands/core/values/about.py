"""What a plan and its epics are for, in words for people, and the lessons that its prompts are told."""

from typing import Annotated

from msgspec import Struct

from manyhands.field_rules import says


class About(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a larger piece of work is for."""

    title: Annotated[str, says("One line for people.")] = ""
    goal: Annotated[str, says("What is reached when all of it is done.")] = ""
    description: Annotated[str, says("What else people should know.")] = ""


class RunAbout(About, frozen=True, omit_defaults=True):
    """What a run is for. It comes from the plan."""

    epics: dict[str, About] = {}  # by the word that tasks have in `parent`
    lessons: tuple[str, ...] = ()  # of earlier runs, for prompts; the most confirmed first


NO_WORDS = RunAbout()
