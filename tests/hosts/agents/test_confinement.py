"""Programs that try to write outside of where their attempt may: none of the ways leads out."""

import asyncio
import json
import secrets
import sys
from pathlib import Path

import pytest

from hosts.agents.recordings import RECORDINGS
from hosts.executors.desk import Desk
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Claims, Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.landlock import landlock_version

FAKE = Path(__file__).with_name("fake_agent.py")
pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

#: Shell lines that try to change $OUT, a directory beside the workspace with the files `old` and `sub/old`.
WAYS = {
    "a new file": 'echo x > "$OUT/new"',
    "an old file": 'echo x > "$OUT/old"',
    "appending": 'echo x >> "$OUT/old"',
    "cutting off": 'truncate -s 0 "$OUT/old"',
    "deleting": 'rm -f "$OUT/old"',
    "a directory": 'mkdir "$OUT/new"',
    "deleting a directory": 'rm -rf "$OUT/sub"',
    "moving out": 'echo x > in; mv in "$OUT/new"',
    "moving in": 'mv "$OUT/old" stolen',
    "renaming": 'mv "$OUT/old" "$OUT/new"',
    "a link from outside": 'ln -s /etc/passwd "$OUT/new"',
    "a hard link": 'ln "$OUT/old" here && echo x > here',
    "through a link": 'ln -s "$OUT" way && echo x > way/new',
    "through dots": "echo x > ../out/new",
    "through /proc": 'echo x > "/proc/self/root$OUT/new"',
    "through the cwd of /proc": 'cd "$OUT" && echo x > /proc/self/cwd/new',
    "a pipe": 'mkfifo "$OUT/new"',
    "in a new session": "setsid sh -c 'echo x > \"$OUT/new\"'",
    "by another program": "python3 -c \"import os; open(os.environ['OUT'] + '/new', 'w').write('x')\"",
    "with other namespaces": 'unshare -rm sh -c \'mount --bind "$OUT" . ; cd . ; echo x > new; echo x > "$OUT/new"\'',
    "with a socket": "python3 -c \"import os, socket; socket.socket(socket.AF_UNIX).bind(os.environ['OUT'] + '/new')\"",
    "copying over": 'cp /etc/hostname "$OUT/old"',
}


def desk_for(tmp_path: Path, then: str, **fields: object) -> Desk:
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    script = tmp_path / "home" / ".claude" / "script.json"  # the stand-in keeps its notes there
    script.parent.mkdir(parents=True, exist_ok=True)
    exit_code, lines = RECORDINGS["claude", "ok"]
    script.write_text(json.dumps([{"then": then, "lines": lines, "exit": exit_code}]))
    journal = f"test-{secrets.token_hex(8)}"
    settings = AgentSettings(
        workspace=workspace,
        journal=journal,
        grace_s=0.5,
        agent="claude",
        run=(sys.executable, str(FAKE), str(script)),
        env={"OUT": str(tmp_path / "out"), "HOME": str(tmp_path / "home")},
        **fields,  # type: ignore[arg-type]
    )
    return Desk(lambda s, e: AgentExecutor(settings, s, e), tmp_path / "attempts", journal)


def outside(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    (out / "sub").mkdir(parents=True)
    (out / "old").write_text("as it was")
    (out / "sub" / "old").write_text("as it was")
    return out


def state_of(out: Path) -> dict[str, str | None]:
    return {str(p.relative_to(out)): p.read_text() if p.is_file() else None for p in sorted(out.rglob("*"))}


def test_there_are_twenty_ways_and_more() -> None:
    assert len(WAYS) >= 20


@pytest.mark.parametrize("way", WAYS)
async def test_no_way_leads_out(tmp_path: Path, way: str) -> None:
    out = outside(tmp_path)
    before = state_of(out)
    desk = desk_for(tmp_path, WAYS[way])
    ending = await desk.run(Task("t", prompt="break out"))
    assert ending.kind is EndingKind.DONE, "the attempt itself got through"
    assert state_of(out) == before
    await desk.executor.close()


async def test_the_same_ways_lead_out_where_nothing_is_confined(tmp_path: Path) -> None:
    led_out = []
    for number, (way, then) in enumerate(WAYS.items()):
        place = tmp_path / str(number)
        place.mkdir()
        out = outside(place)
        before = state_of(out)
        desk = desk_for(place, then, confine="off")
        await desk.run(Task("t", prompt="break out"))
        led_out += [way] if state_of(out) != before else []
        await desk.executor.close()
    assert len(led_out) >= 20, set(WAYS) - set(led_out)


async def test_inside_all_is_as_ever(tmp_path: Path) -> None:
    work = 'mkdir a && echo x > a/b && mv a/b c && ln -s c d && echo y >> c && echo z > "$TMPDIR/t" && echo > /dev/null'
    desk = desk_for(tmp_path, f"{work} && touch all-done")
    assert (await desk.run(Task("t", prompt="work"))).kind is EndingKind.DONE
    assert (tmp_path / "workspace" / "all-done").exists()
    await desk.executor.close()


async def test_claims_are_kept_and_not_trusted(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "mine").mkdir(parents=True)
    (workspace / "theirs").mkdir()
    desk = desk_for(tmp_path, "echo x > mine/new; echo x > theirs/new; echo x > new", confine="claims")
    await desk.run(Task("t", prompt="work", claims=Claims(write=("mine/**",))))
    assert (workspace / "mine" / "new").exists()
    assert not (workspace / "theirs" / "new").exists()
    assert not (workspace / "new").exists()
    await desk.executor.close()


async def test_what_is_hidden_cannot_be_read(tmp_path: Path) -> None:
    secret = tmp_path / "home" / ".ssh" / "key"
    secret.parent.mkdir(parents=True)
    secret.write_text("secret")
    (tmp_path / "way-round").symlink_to(tmp_path / "home")
    (tmp_path / "home" / "open").write_text("open")
    then = 'cat "$HOME/.ssh/key" > got; ls "$HOME/.ssh" > listed; cat "$HOME/open" > read'
    then += "; cp /proc/self/root$HOME/.ssh/key k"
    desk = desk_for(tmp_path, then, hide=("~/.ssh",))
    ending = await desk.run(Task("t", prompt="read"))
    assert ending.kind is EndingKind.DONE, ending
    workspace = tmp_path / "workspace"
    assert (workspace / "got").read_text() == (workspace / "listed").read_text() == ""
    assert not (workspace / "k").exists()
    assert (workspace / "read").read_text() == "open"
    await desk.executor.close()


async def test_the_dispatcher_keeps_its_own_rights(tmp_path: Path) -> None:
    desk = desk_for(tmp_path, "true")
    await desk.run(Task("t", prompt="work"))
    (tmp_path / "by the dispatcher").write_text("x")
    child = await asyncio.create_subprocess_exec("touch", str(tmp_path / "by its child"))
    assert await child.wait() == 0
    await desk.executor.close()
