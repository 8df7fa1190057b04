"""Model servers that speak OpenAI's protocol: which answer on this machine, and which models they have."""

from typing import NamedTuple


class ServedModels(NamedTuple):
    name: str
    url: str
    probe: str  # what to look at while it works; "": nothing
    models: tuple[str, ...]


#: (name, its usual port, the probe that knows it)
_USUAL = (
    ("ollama", 11434, "ollama"),
    ("vllm", 8000, "vllm"),
    ("llamacpp", 8080, "llamacpp"),
    ("lmstudio", 1234, ""),
    ("worker", 8650, ""),
)
_LOOK_S = 1.0


def servers_here() -> tuple[ServedModels, ...]:
    """The servers at their usual ports of this machine that have at least one model."""
    found = []
    for name, port, probe in _USUAL:
        url = f"http://127.0.0.1:{port}/v1"
        models, _ = models_at(url, "", _LOOK_S)
        if models:
            found.append(ServedModels(name, url, probe, models))
    return tuple(found)


def models_at(url: str, key: str, patience_s: float = 10.0) -> tuple[tuple[str, ...] | None, str]:
    """The models there, or None and the reason, which is "" if it does not list them. Asking costs no tokens."""
    import httpx

    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(
            f"{url.rstrip('/')}/models", headers=headers, timeout=patience_s, trust_env=False, follow_redirects=True
        )
        if answer.status_code in (401, 403):
            return None, f"it answers {answer.status_code}: the key is missing or refused"
        if answer.status_code in (404, 405, 501) and "/v" in url:
            return None, ""  # a server may answer prompts and not list its models
        if answer.status_code != httpx.codes.OK:
            return None, f"it answers {answer.status_code}"
        return tuple(sorted(str(model["id"]) for model in answer.json()["data"])), ""
    except httpx.HTTPError as error:
        return None, str(error) or type(error).__name__
    except (ValueError, KeyError, TypeError):
        return None, "its answer is not a list of models"
