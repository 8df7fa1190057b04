"""An entry in a Redis stream for each result; `key` tells repetitions apart."""

from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError
from manyhands.errors import Unavailable
from manyhands.install_hints import install_hint


class RedisSink:
    def __init__(self, url: str, stream: str, password: str = "") -> None:
        try:
            import redis.asyncio as redis
            from redis.exceptions import RedisError
        except ImportError:
            raise Unavailable("a redis sink needs the `redis` package", install_hint("routes")) from None
        self._stream = stream
        self._error = RedisError
        self._redis = redis.from_url(url, password=password or None, socket_timeout=10, socket_connect_timeout=10)

    async def send(self, letter: Letter) -> None:
        try:
            await self._redis.xadd(self._stream, {"key": letter.key, "letter": letter.encoded()})
        except (self._error, OSError) as problem:
            raise SinkError(f"{type(problem).__name__}: {problem}") from None

    async def close(self) -> None:
        await self._redis.aclose()
