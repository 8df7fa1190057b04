"""A process that tokenises and does nothing else: small, without a device, and gone when its pipe closes.

Frames of msgpack on standard input and output, each after its length in four bytes. Imports stay few: all that this
process holds is held as often as there are such processes.
"""

import sys
from typing import Any

import msgspec

from manyhands.worker.loop.tokenizing import Tokenizing


def main() -> None:
    tokenizing_of: dict[tuple[str, int], Tokenizing] = {}
    # The pipe is ours; what a library prints must not end up in it.
    pipe, sys.stdout = sys.stdout.buffer, sys.stderr
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        answer = msgspec.msgpack.encode(_answered(msgspec.msgpack.decode(frame), tokenizing_of))
        pipe.write(len(answer).to_bytes(4, "little") + answer)
        pipe.flush()


def _answered(request: Any, tokenizing_of: dict[tuple[str, int], Tokenizing]) -> dict[str, Any]:
    file, length_max, texts, cut = request
    try:
        key = (file, length_max)
        if key not in tokenizing_of:
            tokenizing_of[key] = Tokenizing(file, length_max)
        tokenizing = tokenizing_of[key]
        pairs = [text if isinstance(text, str) else (text[0], text[1]) for text in texts]
        return {"encoded": tokenizing.encode(pairs, cut) if pairs else [], "vocabulary": tokenizing.vocabulary}
    except Exception as error:  # the boundary: whoever asked is told, and the process goes on
        return {"error": f"{type(error).__name__}: {error}"}


def read_frame(pipe: Any) -> bytes | None:
    """None at the end."""
    head = pipe.read(4)
    if len(head) < 4:
        return None
    body: bytes = pipe.read(int.from_bytes(head, "little"))
    return body


if __name__ == "__main__":
    main()
