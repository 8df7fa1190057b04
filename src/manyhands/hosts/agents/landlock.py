"""Linux's Landlock, by its system calls: a thread gives up rights to files, for itself and for all that it starts.

Rights can only be given up. They belong to the calling thread, so the other threads of the dispatcher keep theirs.
"""

import ctypes
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_O_PATH = 0o10000000

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE = 1 << 13, 1 << 14
#: Everything that changes a directory: removing and creating entries of all kinds.
_CHANGE_DIRECTORY = sum(1 << bit for bit in range(4, 13))
_READS = _READ_FILE | _READ_DIR
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE
#: From this version on, abstract sockets and signals can be confined too.
_ABI_WITH_SCOPES = 6
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2


class FileRights(Struct, frozen=True):
    """The rights that processes keep. If `readable` is None, they may read everything."""

    writable: tuple[Path, ...]
    readable: tuple[Path, ...] | None = None


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


_libc = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """The version of Landlock. 0: this system does not have it, or it is switched off."""
    if sys.platform != "linux":
        return 0
    version: int = _libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    return max(0, version)


def make_confined(rights: FileRights, make: Callable[[], "subprocess.Popen[bytes]"]) -> "subprocess.Popen[bytes]":
    """Starts the process that `make` makes with only these rights. Raises OSError if that is impossible."""
    made: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def in_thread() -> None:
        try:
            _give_up_all_but(rights)
            made.append(make())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=in_thread, name="confined")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]


def _give_up_all_but(rights: FileRights) -> None:
    version = landlock_version()
    if not version:
        raise OSError(errno.ENOSYS, "this kernel cannot confine processes (Landlock)")
    writes = _WRITE_FILE | _CHANGE_DIRECTORY | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    handled = writes | (_READS if rights.readable is not None else 0)
    scoped = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version >= _ABI_WITH_SCOPES else 0
    attributes = _RulesetAttributes(handled, 0, scoped)
    size = ctypes.sizeof(attributes) if version >= _ABI_WITH_SCOPES else 8
    ruleset = _called(_libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), size, 0))
    try:
        _allow(ruleset, rights.writable, handled)
        _allow(ruleset, rights.readable or (), handled & _READS)
        _called(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _called(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: Sequence[Path], allowed: int) -> None:
    for path in paths:
        try:
            descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # a path that does not exist needs no rights
        try:
            is_directory = os.path.isdir(f"/proc/self/fd/{descriptor}")
            rule = _PathBeneath(allowed if is_directory else allowed & _OF_FILES, descriptor)
            _called(_libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))
        finally:
            os.close(descriptor)


def _called(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
