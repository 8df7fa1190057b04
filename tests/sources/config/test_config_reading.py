"""One configuration from default < file < environment < flag; every value knows where it came from."""

import os
from pathlib import Path
from typing import Any

from manyhands.core.values.host import Host, Rate, Rule, Width
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.config_types import Config, OpenaiHost, PythonHost, ShellHost

FILE = """\
[hosts.local]
type = "shell"
kinds = ["code*", "shell"]
width = 4
lanes = { code = 2 }
env = { LANG = "C", SOME_TOKEN = "hidden" }
cwd = "sub"
grace = "500ms"
resources = { gpu_gb = 16 }

[hosts.skadi]
type = "openai"
url = "http://127.0.0.1:11434/v1"
model = "granite-code:8b"
api_key_env = "SKADI_KEY"
kinds = ["code*"]
width = { min = 1, start = 2, max = 16 }
rate = { requests_per_minute = 60, tokens_per_minute = 90000 }
probe = "ollama"
fallback = true
stream = true
system = "be brief"

[hosts.functions]
type = "python"

[[rules]]
kind = "audit"
after = "code*"
left = 2

[store]
dir = "journal"
durability = "crash"
"""


def load(start: Path, environ: dict[str, str] | None = None, **options: Any) -> Config:
    return load_config(start, environ=environ or {}, **options)


def origin_of(config: Config, name: str) -> tuple[Any, str]:
    return next((setting.value, setting.origin) for setting in config.settings if setting.name == name)


def test_without_a_file_there_are_a_shell_and_a_python_host(tmp_path: Path) -> None:
    config = load(tmp_path)
    cores = os.cpu_count()
    assert config.core_hosts() == (
        Host("local", kinds=("*",), takes=("run",), width=Width(start=cores)),
        Host("python", kinds=("*",), takes=("call",), width=Width(start=cores)),
    )
    assert config.workspace == tmp_path
    assert config.file is None
    assert config.store_directory == tmp_path / ".manyhands"
    assert config.store.durability == "power"
    assert {setting.origin for setting in config.settings} == {"default"}


def test_a_file_is_read_in_full(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text(FILE)
    config = load(tmp_path)
    local, skadi, functions = config.hosts
    assert isinstance(local, ShellHost)
    assert (local.env["LANG"], local.cwd, local.grace, local.lanes) == ("C", "sub", 0.5, {"code": 2})
    assert isinstance(skadi, OpenaiHost)
    assert (skadi.url, skadi.model, skadi.api_key_env) == ("http://127.0.0.1:11434/v1", "granite-code:8b", "SKADI_KEY")
    assert (skadi.api, skadi.probe.name, skadi.stream, skadi.system) == ("chat", "ollama", True, "be brief")
    assert isinstance(functions, PythonHost)
    assert config.rules == (Rule("audit", "code*", 2),)
    assert config.store_directory == tmp_path / "journal"
    assert config.core_hosts() == (
        Host("local", ("code*", "shell"), ("run",), Width(4, 4, 4), {"code": 2}, resources={"gpu_gb": 16}),
        Host(
            "skadi",
            ("code*",),
            ("prompt",),
            Width(1, 2, 16),
            {},
            Rate(60, 90000),
            fallback=True,
            streams=True,
            model="granite-code:8b",
        ),
        Host("functions", ("*",), ("call",), Width()),
    )


def test_the_nearest_file_above_is_found_and_its_directory_is_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text("")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load(inner).workspace == tmp_path
    (tmp_path / "a" / "manyhands.toml").write_text("")
    assert load(inner).workspace == tmp_path / "a"


def test_a_named_file_goes_before_one_that_is_found(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text('[store]\ndir = "found"\n')
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.toml").write_text('[store]\ndir = "named"\n')
    named = load(tmp_path, config_file=Path("other/mine.toml"))
    assert (named.store.dir, named.workspace) == ("named", other)
    by_variable = load(tmp_path, {"MANYHANDS_CONFIG": str(other / "mine.toml")})
    assert by_variable.store.dir == "named"
    assert load(tmp_path, {"MANYHANDS_CONFIG": "nosuch"}, config_file=Path("other/mine.toml")).store.dir == "named"


def test_a_hosts_file_takes_the_place_of_the_hosts_alone(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text(FILE)
    (tmp_path / "hosts.toml").write_text('\n[hosts.only]\ntype = "python"\n')
    config = load(tmp_path, hosts_file=Path("hosts.toml"))
    assert [host.name for host in config.hosts] == ["only"]
    assert config.store.dir == "journal"
    assert origin_of(config, "hosts.only.type") == ("python", "hosts.toml line 3")


def test_each_value_says_where_it_came_from_and_later_layers_win(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text(FILE)
    environ = {
        "MANYHANDS_STORE_DIR": "from-env",
        "MANYHANDS_STORE_DURABILITY": "power",
        "MANYHANDS_HOSTS_LOCAL_WIDTH": "9",
        "MANYHANDS_HOSTS_SKADI_KINDS": "text, code",
        "MANYHANDS_HOSTS_SKADI_STREAM": "false",
        "MANYHANDS_HOSTS_LOCAL_GRACE": "2s",
        "MANYHANDS_TASK": "an attempt's own variable is not a setting",
    }
    config = load(tmp_path, environ, flags={"store.dir": "from-flag", "store.durability": None})
    assert origin_of(config, "store.dir") == ("from-flag", "flag")
    assert origin_of(config, "store.durability") == ("power", "env MANYHANDS_STORE_DURABILITY")
    assert origin_of(config, "hosts.local.width") == (9, "env MANYHANDS_HOSTS_LOCAL_WIDTH")
    assert origin_of(config, "hosts.local.grace") == (2.0, "env MANYHANDS_HOSTS_LOCAL_GRACE")
    assert origin_of(config, "hosts.skadi.kinds") == (["text", "code"], "env MANYHANDS_HOSTS_SKADI_KINDS")
    assert origin_of(config, "hosts.skadi.stream") == (False, "env MANYHANDS_HOSTS_SKADI_STREAM")
    assert origin_of(config, "hosts.skadi.url") == ("http://127.0.0.1:11434/v1", "manyhands.toml line 13")
    assert origin_of(config, "hosts.functions.width") == (None, "default")
    assert origin_of(config, "rules.0")[1] == "manyhands.toml line 27"
    assert config.hosts[0].width == Width(9, 9, 9)


def test_without_a_file_the_width_that_is_asked_for_is_had(tmp_path: Path) -> None:
    config = load_config(tmp_path, environ={}, default_width=10)
    assert [host.width for host in config.hosts] == [Width(10, 10, 10), Width(10, 10, 10)]
    assert origin_of(config, "hosts.local.width") == (10, "flag --concurrency")


def test_a_configured_host_without_a_width_starts_from_what_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text('[hosts.a]\ntype = "shell"\n[hosts.b]\ntype = "shell"\nwidth = 3\n')
    config = load_config(tmp_path, environ={}, default_width=10)
    assert [host.width for host in config.hosts] == [Width(start=10), Width(3, 3, 3)]


def test_a_default_host_can_be_set_by_a_variable(tmp_path: Path) -> None:
    config = load(tmp_path, {"MANYHANDS_HOSTS_LOCAL_WIDTH": "7"})
    assert config.hosts[0].width == Width(7, 7, 7)


def test_what_may_be_a_secret_is_not_among_the_settings(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text(FILE)
    config = load(tmp_path, {"SKADI_KEY": "sk-secret"})
    assert "hidden" not in repr(config.settings)
    assert "sk-secret" not in repr(config)
    assert origin_of(config, "hosts.local.env")[0] == {"LANG": "C", "SOME_TOKEN": "…"}
