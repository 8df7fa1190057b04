"""Images and texts over HTTP by a real worker, with random models in the layouts of CLIP and SigLIP."""

import base64
import io
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from worker.http.live_worker import Worker, at_work
from worker.tiny_image_models import HIDDEN, PATCH, SIZE, WIDTH, write_image_model

#: All tests use the same worker process.
pytestmark = pytest.mark.xdist_group("image-worker")


class Folders:
    def __init__(self, root: Path) -> None:
        self.root, self.photos, self.private = root, root / "photos", root / "private"
        for folder in (self.photos, self.private):
            folder.mkdir()
            painted(60, 80).save(folder / "a b.png")


def painted(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """An image whose every part differs, so that another crop gives another vector."""
    image = Image.new("RGB", (width, height))
    image.putdata([(x * 255 // width, y * 255 // height, (x * y) % 256) for y in range(height) for x in range(width)])
    return image.convert(mode)


def data_uri(image: Image.Image, format: str = "PNG", **options: Any) -> str:
    file = io.BytesIO()
    image.save(file, format, **options)
    return f"data:image/{format.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def images(folders: Folders) -> Iterator[Worker]:
    models = [f"{family}={write_image_model(folders.root / family, family)}" for family in ("clip", "siglip")]
    flags = ("--threads", "1", "--prep", "1", "--images-from", "photos")
    with at_work(models, folders.root, *flags) as worker:
        yield worker


def rows_of(worker: Worker, *inputs: Any, model: str = "clip", modality: str = "image") -> list[dict[str, Any]]:
    answer = worker.post("/v1/embeddings", {"model": model, "input": list(inputs), "modality": modality})
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def distance(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("model", "width", "tokens"), [("clip", WIDTH, 10), ("siglip", HIDDEN, 9)])
def test_images_and_texts_have_vectors_of_one_space(images: Worker, model: str, width: int, tokens: int) -> None:
    body = {"model": model, "input": data_uri(painted(60, 80)), "modality": "image"}
    seen = images.post("/v1/embeddings", body).json()
    read = images.post("/v1/embeddings", {"model": model, "input": "a photo of a red square"}).json()
    vectors = [answer["data"][0]["embedding"] for answer in (seen, read)]
    assert [len(vector) for vector in vectors] == [width, width]
    assert all(abs(sum(number * number for number in vector) - 1) < 1e-5 for vector in vectors)
    # What an image costs is its pixels by the patch; CLIP adds one for the whole.
    assert seen["usage"]["prompt_tokens"] == tokens == (SIZE // PATCH) ** 2 + (model == "clip")


def test_a_file_a_url_and_a_data_uri_of_one_image_are_the_same(images: Worker, folders: Folders) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folders.private))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/a%20b.png"
        gone = f"http://127.0.0.1:{server.server_port}/gone.png"
        file = folders.photos / "a b.png"
        given = [data_uri(painted(60, 80)), "photos/a b.png", str(file), file.as_uri(), url]
        rows = rows_of(images, *given, gone)
        server.shutdown()
    vectors = [row["embedding"] for row in rows[:-1]]
    assert all(distance(vectors[0], vector) < 1e-6 for vector in vectors)
    assert rows[-1]["error"]["code"] == "not_fetched"
    assert "answered 404" in rows[-1]["error"]["message"]


def test_what_is_not_allowed_is_refused_for_that_image_alone(images: Worker, folders: Folders) -> None:
    (folders.photos / "link.png").unlink(missing_ok=True)
    (folders.photos / "link.png").symlink_to(folders.private / "a b.png")
    outside = [
        "private/a b.png",
        "photos/../private/a b.png",
        "photos/link.png",
        "/etc/passwd",
        "file:///etc/hostname",
        "/no/such/file.png",
        "https://example.com/cat.png",
        "http://127.0.0.1.example.com/cat.png",
    ]
    rows = rows_of(images, "photos/a b.png", *outside, "photos/gone.png")
    assert rows[0]["embedding"]
    assert [row["error"]["code"] for row in rows[1:]] == ["not_allowed"] * len(outside) + ["not_found"]
    assert all(row["embedding"] is None for row in rows[1:])


def test_a_bad_image_fails_alone_and_says_why(images: Worker) -> None:
    good = data_uri(painted(60, 80))
    damaged = "data:image/png;base64," + base64.b64encode(base64.b64decode(good.split(",")[1])[:-200]).decode()
    line = data_uri(Image.new("1", (60_000, 1)))
    huge = data_uri(Image.new("1", (9_000, 9_000)))
    bad = ["data:image/png;base64,@@", "data:text/plain,hello", "data:x;base64,aGVsbG8=", damaged, 7, "", line, huge]
    rows = rows_of(images, good, *bad, good)
    assert [row["error"]["code"] for row in rows[1:-1]] == ["not_image"] * 6 + ["too_large"] * 2
    assert rows[0]["embedding"] == rows[-1]["embedding"] is not None
    answer = images.post("/v1/embeddings", {"model": "clip", "input": bad[:2], "modality": "image"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_image")


def test_a_photo_is_turned_as_its_camera_says(images: Worker) -> None:
    upright, turned = painted(60, 80), painted(60, 80).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it by 90 degrees clockwise to show it
    straight, marked, lying = (
        row["embedding"] for row in rows_of(images, data_uri(upright), data_uri(turned, exif=exif), data_uri(turned))
    )
    assert distance(straight, marked) < 1e-6
    assert distance(straight, lying) > 1e-3


def test_every_common_format_and_mode_is_read(images: Worker) -> None:
    given = [data_uri(painted(60, 80), format) for format in ("PNG", "BMP", "WEBP", "JPEG", "GIF")]
    given += [data_uri(painted(60, 80, mode)) for mode in ("RGBA", "L", "P", "LA")]
    assert all(row["embedding"] for row in rows_of(images, *given))
    (refused,) = (
        images.post(
            "/v1/embeddings", {"model": "clip", "input": [data_uri(painted(60, 80), "TIFF")], "modality": "image"}
        )
        .json()
        .values()
    )
    assert "its format is unknown" in refused["message"]


def test_a_worker_says_which_models_take_images(images: Worker) -> None:
    models = images.http.get("/v1/models").json()["data"]
    assert [(each["id"], each["modalities"]) for each in models] == [
        ("clip", ["text", "image"]),
        ("siglip", ["text", "image"]),
    ]
    assert images.figure("items_total", "clip/image") > 0
    part = images.post("/v1/embeddings", {"model": "clip/image", "input": "a photo"})
    assert (part.status_code, "name the model" in part.text) == (400, True)
    audio = images.post("/v1/embeddings", {"model": "clip", "input": "a", "modality": "audio"})
    assert (audio.status_code, "must be" in audio.text) == (400, True)


def test_a_request_of_too_many_images_is_refused_before_any_is_read(images: Worker) -> None:
    answer = images.post("/v1/embeddings", {"model": "clip", "input": ["photos/a b.png"] * 20_000, "modality": "image"})
    assert answer.status_code == 413
    assert "20,000 images" in answer.text
    assert "several requests" in answer.text
