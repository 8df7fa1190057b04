"""A line to PostgreSQL that can be cut: what was sent waits in it, and arrives late when it is whole again.

It stands for a partition of the network between one dispatcher and the server. No connection is closed by it.
"""

import socket
import tempfile
import threading
from contextlib import closing, suppress
from pathlib import Path

NAME = ".s.PGSQL.5432"  # where libpq looks in the directory that is its host


class CutLine:
    def __init__(self, server: Path) -> None:
        # Short: a socket's path may have 107 bytes.
        self._made = tempfile.TemporaryDirectory(prefix="mh-line-", dir="/tmp")
        self.directory = Path(self._made.name)
        self._server = server
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.directory / NAME))
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_whole.clear()

    def rejoin(self) -> None:
        self._is_whole.set()

    def close(self) -> None:
        self.rejoin()
        self._listening.close()
        self._made.cleanup()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._server / NAME))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), closing(target):
            while part := source.recv(1 << 16):
                self._is_whole.wait()
                target.sendall(part)
