"""`manyhands handoff`: prints what the next person or agent must know."""

from manyhands.surfaces.cli.printing import put
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.handoff_verbs import as_handoff_text, hand_over
from manyhands.surfaces.verbs.store_view import View


def print_handoff(run: str | None, settings: Settings) -> None:
    view = View(settings.load())
    put(view.secrets.redact(as_handoff_text(hand_over(view, run))))
