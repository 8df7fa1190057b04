"""A process that only tokenises texts and decodes images. It is small, uses no device, and ends when its pipe closes.

It reads and writes frames of msgpack on standard input and output, each preceded by its length in four bytes. It
imports little, because each of these processes holds its own copy of every import.
"""

import sys
from typing import Any

import msgspec

from manyhands.worker.loop.image_decoding import decoded
from manyhands.worker.loop.tokenizing import Tokenizing
from manyhands.worker.values.framing import Framing


def main() -> None:
    tokenizing_of: dict[tuple[str, int], Tokenizing] = {}
    # Standard output carries the frames, so a library's prints must go elsewhere.
    pipe, sys.stdout = sys.stdout.buffer, sys.stderr
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        answer = msgspec.msgpack.encode(_answered(msgspec.msgpack.decode(frame), tokenizing_of))
        pipe.write(len(answer).to_bytes(4, "little") + answer)
        pipe.flush()


def _answered(request: Any, tokenizing_of: dict[tuple[str, int], Tokenizing]) -> dict[str, Any]:
    try:
        if "image" in request:
            found = decoded(request["image"], msgspec.convert(request["framing"], Framing))
            return {"pixels": found} if isinstance(found, bytes) else {"trouble": msgspec.to_builtins(found)}
        file, length_max, texts, cut = request["tokenize"]
        key = (file, length_max)
        if key not in tokenizing_of:
            tokenizing_of[key] = Tokenizing(file, length_max)
        tokenizing = tokenizing_of[key]
        pairs = [text if isinstance(text, str) else (text[0], text[1]) for text in texts]
        return {"encoded": tokenizing.encode(pairs, cut) if pairs else [], "vocabulary": tokenizing.vocabulary}
    except Exception as error:  # the boundary: the caller is told, and the process continues
        return {"error": f"{type(error).__name__}: {error}"}


def read_frame(pipe: Any) -> bytes | None:
    """The next frame, or None at the end of the pipe."""
    head = pipe.read(4)
    if len(head) < 4:
        return None
    body: bytes = pipe.read(int.from_bytes(head, "little"))
    return body


if __name__ == "__main__":
    main()
