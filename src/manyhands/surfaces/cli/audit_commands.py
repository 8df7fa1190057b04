"""`manyhands audit`: its declarations."""

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def audit(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List who asked for what, when, and from where."""
    from manyhands.surfaces.cli.audit_listing import list_audit

    list_audit(output, settings)


noun = Noun(audit)
