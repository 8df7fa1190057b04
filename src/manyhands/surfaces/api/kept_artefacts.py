"""One kept copy of a file that an attempt left, to be saved by whoever asks for it.

Tasks can write where the copies are. So the path is that of the journal, no link on the way is followed, and what is
no longer the file that was kept is refused.
"""

import asyncio
import hashlib
from pathlib import Path
from urllib.parse import quote

from starlette.responses import Response

from manyhands.core.state import Record
from manyhands.core.values.ending import Artefact
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Conflict, UnknownTask
from manyhands.hosts.artefacts.artefact_files import COPIES
from manyhands.hosts.artefacts.workspace_files import directory_in, open_file
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.request_types import ApiRequest, ArtefactQuery
from manyhands.surfaces.verbs.attempt_output import attempt_number
from manyhands.surfaces.verbs.store_view import find_task

MEDIA_TYPE = "application/octet-stream"
BYTES_MAX = 16 << 20


async def artefact(context: ApiContext, asked: ApiRequest) -> Response:
    query: ArtefactQuery = asked.query
    record = find_task(context.book, asked.path["task"], asked.path["run"])
    number = attempt_number(record, query.attempt or None)
    left = _left(record, number, query.path)
    place = Path(attempt_directory(context.directory, record.run, record.task.id, number)) / COPIES / left.path
    content = await asyncio.to_thread(_read, context.directory, place, left)
    text = content.decode(errors="replace")
    if await asyncio.to_thread(context.redact, text) != text:
        raise Conflict(f"`{left.path}` has a secret in it, so it is not sent", f"it is in {place}")
    name = quote(left.path.rpartition("/")[2], safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


def _left(record: Record, number: int, path: str) -> Artefact:
    """The artefact with this path, if the journal lists it and a copy was kept."""
    ending = (record.history or [])[number - 1].ending
    found = [one for one in (ending.artefacts if ending is not None else ()) if one.path == path]
    if not found:
        raise UnknownTask(
            f"attempt {number} at task `{record.task.id}` left no file `{path}`",
            f"`manyhands task show {record.task.id}` lists its files",
        )
    if not found[0].is_copy:
        raise Conflict(f"no copy of `{path}` was kept", "the file in the workspace is all there is")
    if found[0].size_bytes > BYTES_MAX:
        raise Conflict(
            f"`{path}` has {found[0].size_bytes:,} bytes, and the page sends at most {BYTES_MAX:,}",
            f"`manyhands task show {record.task.id}` says where its copy is",
        )
    return found[0]


def _read(root: Path, place: Path, left: Artefact) -> bytes:
    """Its content, if it is still what was kept."""
    *above, name = place.relative_to(root).parts
    try:
        with directory_in(root, above) as directory, open_file(directory, name) as file:
            content = file.read(left.size_bytes + 1)
    except OSError as error:
        raise Conflict(
            f"the copy of `{left.path}` cannot be read: {error.strerror}", f"it should be in {place}"
        ) from None
    if hashlib.sha256(content).hexdigest() != left.sha256:
        raise Conflict(f"the copy of `{left.path}` was changed after it was kept", f"it is in {place}")
    return content
