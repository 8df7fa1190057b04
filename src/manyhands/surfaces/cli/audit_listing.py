"""`manyhands audit`: lists the audit trail of a store."""

from datetime import UTC, datetime

from msgspec.structs import asdict

from manyhands.surfaces.cli.printing import OutputFormat, print_rows
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.audit_trail import read_audit


def list_audit(output: OutputFormat, settings: Settings) -> None:
    rows = [asdict(line) for line in read_audit(settings.load().store_directory)]
    if output is OutputFormat.TABLE:
        rows = [{**row, "at": datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%SZ")} for row in rows]
    print_rows(rows, output, "asked", none="nobody has asked for anything yet")
