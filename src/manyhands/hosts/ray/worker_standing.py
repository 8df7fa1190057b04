"""What a model worker reports: which models are in its memory, and how much room there is for others."""

import httpx
from prometheus_client.parser import text_string_to_metric_families

_ROOM = "manyhands_worker_device_room_bytes"
_ANSWERS_WITHIN_S = 2.0


async def standing_of(url: str) -> tuple[tuple[str, ...], float] | None:
    """None if it does not answer in time: a busy worker may be slow to answer."""
    try:
        async with httpx.AsyncClient(timeout=_ANSWERS_WITHIN_S) as http:
            models = (await http.get(f"{url}/v1/models")).raise_for_status().json()["data"]
            metrics = (await http.get(f"{url}/metrics")).raise_for_status().text
    except (httpx.HTTPError, ValueError, KeyError):
        return None
    rooms = [
        sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == _ROOM
    ]
    return tuple(row["id"] for row in models if row.get("state") == "resident"), max(rooms, default=0.0)
