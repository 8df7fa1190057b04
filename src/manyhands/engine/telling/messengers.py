"""The ways to tell: `notify-send`, a command, and the webhooks of Slack, Discord and ntfy."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any, assert_never
from urllib.parse import quote

import msgspec

from manyhands.engine.telling.tidings import Tiding
from manyhands.sources.config.tell_config import TellConfig

#: Longer than any of them takes. One that hangs must not keep a run from ending.
WITHIN_S = 20.0
TEXT_CHARACTERS_MAX = 500


class NotTold(Exception):
    """A messenger could not deliver. The message says why, and has no secret in it."""


async def tell(way: TellConfig, tiding: Tiding, link: str, at: float, environ: Mapping[str, str]) -> None:
    if way.desktop:
        await _run(("notify-send", "--app-name=manyhands", tiding.title, "\n".join(filter(None, (tiding.text, link)))))
    elif way.command:
        await _run(way.command, _variables(tiding, link))
    else:
        address = way.webhook or environ.get(way.webhook_env, "")
        if not address:
            raise NotTold(f"the environment variable `{way.webhook_env}` is not set")
        await _post(address, way, tiding, link, at)


def _variables(tiding: Tiding, link: str) -> dict[str, str]:
    """Texts of tasks reach a command as values of variables: no shell reads them."""
    told = {"TITLE": tiding.title, "TEXT": tiding.text, "CAUSE": tiding.about, "LINK": link, "RUN": tiding.run}
    return {f"MANYHANDS_TELL_{name}": value for name, value in told.items()}


async def _run(command: tuple[str, ...], variables: Mapping[str, str] | None = None) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, **(variables or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise NotTold(f"`{command[0]}` cannot be started: {error.strerror}") from None
    try:
        async with asyncio.timeout(WITHIN_S):
            code = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NotTold(f"`{command[0]}` took longer than {WITHIN_S:g} s") from None
    if code:
        raise NotTold(f"`{command[0]}` ended with exit code {code}")


async def _post(address: str, way: TellConfig, tiding: Tiding, link: str, at: float) -> None:
    import httpx  # only where something is told to an address

    headers, body = form_of(way, tiding, link, at)
    try:
        async with httpx.AsyncClient(timeout=WITHIN_S, trust_env=False) as client:
            answer = await client.post(address, content=body, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotTold(f"the webhook does not answer ({type(error).__name__})") from None
    if not answer.is_success:
        raise NotTold(f"the webhook answered {answer.status_code}")


def form_of(way: TellConfig, tiding: Tiding, link: str, at: float) -> tuple[dict[str, str], bytes]:
    """Headers and body. What a task wrote can mention nobody and is not read as markup."""
    text = "\n".join(filter(None, (tiding.title, tiding.text, link)))
    told: dict[str, Any]
    match way.form:
        case "slack":
            told = {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
        case "discord":
            told = {"content": text, "allowed_mentions": {"parse": []}}
        case "ntfy":
            plain = "\n".join(filter(None, (tiding.text, link))) or tiding.title
            headers = {"title": quote(tiding.title, safe=" :·#@+=.,()"), "content-type": "text/plain; charset=utf-8"}
            return headers | ({"click": link} if link else {}), plain.encode()
        case "json":
            told = {"cause": tiding.about, "title": tiding.title, "text": tiding.text, "run": tiding.run}
            told |= {"link": link, "at": at}
        case _:
            assert_never(way.form)
    return {"content-type": "application/json"}, msgspec.json.encode(told)
