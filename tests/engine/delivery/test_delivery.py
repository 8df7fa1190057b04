"""Results leave as the routes say: nothing without one, everything at least once, and again when a person wants it."""

import asyncio
import hashlib
import hmac
import json
from typing import Any

import pytest

from engine.delivery.receivers import Hook
from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError
from manyhands.engine.delivery.sinks.webhook_sink import WebhookSink
from surfaces.cli.console import Console, sh, shell_host, wait_until

A_LETTER = Letter("k", "search", "r", "a", "shell", "done", 1, "local", 1.0, 2.0, "found")


def route(console: Console, *sinks: str, **settings: Any) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    tables = "".join(f"[[routes.search.sinks]]\n{sink}\n" for sink in sinks)
    console.config(shell_host(4) + "[routes.search]\n" + "\n".join(lines) + "\n" + tables)


def says(id: str, **fields: Any) -> dict[str, Any]:
    return sh(id, f"echo result of {id}", app="search", **fields)


def test_without_a_route_nothing_leaves_and_a_reply_to_is_refused(console: Console, hook: Hook) -> None:
    console.config(shell_host(1))
    console.plan([says("a", reply_to=hook.url)])
    refused = console.run("run", "plan.jsonl")
    assert refused.code == 2
    assert "the `reply_to` of task `a` is not allowed: app `search` has no route" in refused.err
    assert "write [routes.search] in manyhands.toml with a `reply_to`" in refused.err
    console.plan([says("a")])
    assert console.run("run", "plan.jsonl").code == 0
    assert console.run("route").err == "there are no routes, so results stay in the store\n"
    assert hook.got == []


def test_a_reply_to_goes_where_the_route_allows_and_nowhere_else(console: Console, hook: Hook) -> None:
    route(console, reply_to=[hook.url.removesuffix("hook")])
    console.plan([says("a", reply_to=hook.url)])
    assert console.run("run", "plan.jsonl").code == 0
    assert [letter["result"].strip() for letter in hook.letters] == ["result of a"]
    console.plan([says("a", reply_to="http://evil.example/")], "evil.jsonl")
    refused = console.run("run", "evil.jsonl")
    assert (refused.code, len(hook.got)) == (2, 1)
    assert "the route of app `search` allows" in refused.err
    route(console, reply_to=["https://hooks.example.org"])
    assert "with a slash at its end" in console.run("route").err


def test_every_sink_gets_every_result_once_with_its_key(
    console: Console, hook: Hook, redis_url: str, postgres_server: Any
) -> None:
    database = postgres_server.url()
    route(
        console,
        'type = "file"\npath = "out/search.jsonl"',
        f'type = "webhook"\nurl = "{hook.url}"\nsecret_env = "HOOK_SECRET"',
        f'type = "redis"\nurl = "{redis_url}"\nstream = "results"',
        'type = "postgres"\nurl_env = "RESULTS_URL"\ntable = "results_of_search"',
    )
    ids = [f"t{n}" for n in range(8)]
    console.plan([says(id) for id in ids])
    assert console.run("run", "plan.jsonl", HOOK_SECRET="sesame", RESULTS_URL=database).code == 0
    written = [json.loads(line) for line in (console.directory / "out/search.jsonl").read_text().splitlines()]
    assert sorted(letter["task"] for letter in written) == ids
    headers, body = hook.got[0]
    at = headers["manyhands-signature"].partition(",")[0].removeprefix("t=")
    signed = hmac.new(b"sesame", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["manyhands-signature"] == f"t={at},v1={signed}"
    assert len({headers["idempotency-key"] for headers, _ in hook.got}) == len(hook.got) == 8
    assert asyncio.run(in_redis(redis_url)) == ids
    assert asyncio.run(in_postgres(database)) == ids
    assert "sesame" not in "".join(
        file.read_text(errors="replace") for file in console.store.rglob("*") if file.is_file()
    )
    assert [row["waiting"] for row in console.run("route", "-o", "json").json] == [0] * 4


async def in_redis(url: str) -> list[str]:
    import redis.asyncio as redis

    async with redis.from_url(url) as client:
        return sorted(json.loads(fields[b"letter"])["task"] for _, fields in await client.xrange("results"))


async def in_postgres(url: str) -> list[str]:
    import psycopg

    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await (await connection.execute("SELECT task FROM results_of_search ORDER BY task")).fetchall()
        return [row[0] for row in rows]


def test_a_sink_that_is_down_is_tried_again_and_holds_nothing_up(console: Console, hook: Hook) -> None:
    hook.answers = [503, 503]
    route(console, f'type = "webhook"\nurl = "{hook.url}"', order="app")
    console.plan([says(f"t{n}") for n in range(4)])
    assert console.run("run", "plan.jsonl").code == 0
    ended = [record.history[-1].ended_at for record in console.book().runs["plan-1"].records.values() if record.history]
    order = [letter["ended_at"] for letter in hook.letters]
    assert order == sorted(order), "one after another, also after a refusal"
    assert sorted(order) == sorted(ended)


def test_what_is_given_up_is_listed_and_sent_again_under_its_key(console: Console, hook: Hook) -> None:
    hook.answers = [400, 422]
    route(console, f'type = "webhook"\nname = "crm"\nurl = "{hook.url}"')
    console.plan([says("a"), says("b"), sh("other", "exit 0")])
    assert console.run("run", "plan.jsonl").code == 0
    dead = console.run("route", "dead", "-o", "json").json
    assert sorted((row["task"], row["sink"], row["tries"]) for row in dead) == [("a", "crm", 1), ("b", "crm", 1)]
    assert {row["error"] for row in dead} == {"HTTP 400", "HTTP 422"}
    assert "there is no dead letter 99" in console.run("route", "resend", "99").err
    assert "2 results are sent again by the next" in console.run("route", "resend", "--all").err
    console.plan([sh("more", "exit 0")], "more.jsonl")
    assert console.run("run", "more.jsonl").code == 0
    assert sorted(letter["task"] for letter in hook.letters) == ["a", "b"]
    assert {headers["idempotency-key"].rpartition("-")[2] for headers, _ in hook.got} == {"1", "2"}
    assert console.run("route", "dead", "-o", "json").json == []


def test_what_is_not_delivered_when_the_run_ends_goes_out_with_the_next(console: Console, hook: Hook) -> None:
    hook.answers = [503] * 1000
    route(console, f'type = "webhook"\nurl = "{hook.url}"', tries=1000)
    console.plan([says("a")])
    live = console.start("run", "plan.jsonl")
    wait_until(lambda: len(hook.answers) < 998, "some tries")
    live.process.kill()
    live.process.wait()
    assert console.run("route", "-o", "json").json[0]["waiting"] == 1
    hook.answers = []
    console.plan([sh("more", "exit 0")], "more.jsonl")
    assert console.run("run", "more.jsonl").code == 0
    assert [letter["task"] for letter in hook.letters] == ["a"]


def test_a_run_says_what_has_not_arrived_and_what_was_given_up(console: Console, hook: Hook) -> None:
    crm, gone = (f'type = "webhook"\nurl = "{hook.url}"\nname = "{name}"' for name in ("crm", "gone"))
    hook.answers = [429, 429]
    route(console, crm, gone)
    console.plan([says("a")])
    told = console.run("run", "plan.jsonl")
    assert told.code == 0
    assert "2 results are not delivered yet: the next `manyhands run` or `serve` continues with that" in told.err
    route(console, crm)
    console.plan([says("b")], "more.jsonl")
    told = console.run("run", "more.jsonl")
    assert "1 result was given up" in told.err
    assert "not delivered yet" not in told.err
    dead = [(row["task"], row["sink"], row["error"]) for row in console.run("route", "dead", "-o", "json").json]
    assert dead == [("a", "gone", "the route no longer has a sink `gone`")]
    assert sorted(letter["task"] for letter in hook.letters) == ["a", "b"]


def test_members_of_a_family_are_told_once_when_they_are_verified(console: Console, hook: Hook) -> None:
    steps = {step: ["true"] for step in ("snapshot", "disrupt", "healthy", "revert")}
    family = "\n".join(f"{step} = {json.dumps(argv)}" for step, argv in steps.items())
    console.config(
        shell_host(4)
        + f'[families.kernel]\nhost = "local"\non_failure = "bisect"\n{family}\n'
        + '[routes.search]\nendings = ["done", "failed"]\n'
        + f'[[routes.search.sinks]]\ntype = "webhook"\nurl = "{hook.url}"\n'
    )
    good, bad = says("good", family="kernel"), sh("bad", "echo oh; exit 3", app="search", family="kernel")
    console.plan([good, bad])
    assert console.run("run", "plan.jsonl").code == 1
    told = sorted((letter["task"], letter["state"], letter["result"].strip()) for letter in hook.letters)
    assert told == [("bad", "failed", "oh"), ("good", "done", "result of good")]


@pytest.mark.parametrize(
    ("sink", "wrong"),
    [
        ('type = "file"', "`path` is missing"),
        ('type = "flie"\npath = "x"', "did you mean `file`?"),
        ('type = "webhook"\nurl = "ftp://x/"', "must be an http or https URL"),
        ('type = "redis"\nurl = "redis://:hunter2@x/0"\nstream = "s"', "without a password"),
        ('type = "postgres"\nurl_env = "X"\ntable = "a; drop table b"', "must be the name of a table"),
        ('type = "webhook"\nurl = "http://x/"\nsecret = "s"', "unknown field"),
        ('type = "webhook"\nurl = "http://[::1"', "must be an http or https URL"),
        ('type = "webhook"\nurl = "http://me:hunter2@x/"', "must be an http or https URL"),
        ('type = "webhook"\nurl = "http://x:99999/"', "must be an http or https URL"),
        ('type = "webhook"', "must be given, or `url_env` instead of it"),
        ('type = "redis"\nurl = "redis://h:abc/0"\nstream = "s"', "must be a redis:// URL"),
    ],
)
def test_a_bad_sink_is_refused_with_its_place(console: Console, sink: str, wrong: str) -> None:
    route(console, sink)
    refused = console.run("route")
    assert (refused.code, wrong in refused.err) == (2, True), refused.err
    assert "hunter2" not in refused.err


def test_a_secret_that_is_not_set_is_named_before_anything_runs(console: Console, hook: Hook) -> None:
    route(console, f'type = "webhook"\nurl = "{hook.url}"\nsecret_env = "NOT_SET_AT_ALL"')
    console.plan([says("a")])
    refused = console.run("run", "plan.jsonl")
    assert (refused.code, "needs the variable `NOT_SET_AT_ALL`" in refused.err) == (2, True)
    route(console, reply_to=["http://x/"], reply_secret_env="NOT_SET_EITHER")
    assert "`reply_to` of route `search` needs the variable `NOT_SET_EITHER`" in console.run("run", "plan.jsonl").err


def test_a_token_in_an_address_is_shown_to_nobody_and_an_address_may_be_in_a_variable(
    console: Console, hook: Hook
) -> None:
    route(console, f'type = "webhook"\nurl = "{hook.url}?token=hunter2"', 'type = "webhook"\nurl_env = "HOOK_URL"')
    for command in ("route", "config"):
        shown = console.run(command)
        assert (shown.code, "hunter2" in shown.out, hook.url in shown.out) == (0, False, True)
    console.plan([says("a")])
    refused = console.run("run", "plan.jsonl", HOOK_URL="nowhere")
    assert "the value of `HOOK_URL` is not an http or https URL" in refused.err
    assert console.run("run", "plan.jsonl", HOOK_URL=hook.url).code == 0
    assert [letter["task"] for letter in hook.letters] == ["a", "a"]


def test_an_address_that_is_no_address_is_not_repeated(console: Console) -> None:
    route(console, 'type = "postgres"\nurl_env = "RESULTS_URL"\ntable = "results"')
    console.plan([says("a")])
    refused = console.run("run", "plan.jsonl", RESULTS_URL="postgres//me:hunter2hunter2@h/db")
    assert (refused.code, "hunter2" in refused.err + refused.out) == (2, False)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
async def test_a_webhook_that_sends_elsewhere_is_not_followed(hook: Hook, code: int) -> None:
    """The config names who gets results. A receiver that was taken over must not be able to name another."""
    hook.answers, hook.leads_to = [code], hook.url
    sink = WebhookSink(hook.url)
    with pytest.raises(SinkError, match=f"HTTP {code}"):
        await sink.send(A_LETTER)
    await sink.close()
    assert hook.got == []
