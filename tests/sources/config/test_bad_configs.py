"""Every mistake in a configuration is told with its line and a next step; keys are never repeated."""

from pathlib import Path
from typing import Any

import pytest

from manyhands.errors import ConfigError
from manyhands.readers.problems import Problem
from manyhands.sources.config.config_reading import ConfigRefused, load_config


def refusal(directory: Path, text: str | bytes, environ: dict[str, str] | None = None, **options: Any) -> ConfigRefused:
    (directory / "manyhands.toml").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigRefused) as caught:
        load_config(directory, environ=environ or {}, **options)
    assert isinstance(caught.value, ConfigError)
    return caught.value


def only_problem(directory: Path, text: str | bytes, environ: dict[str, str] | None = None, **options: Any) -> Problem:
    [problem] = refusal(directory, text, environ, **options).problems
    return problem


AGENT = '[hosts.h]\ntype = "agent"\n'
PLAN = '[[backlogs]]\nplan = "p.toml"\n'
SHELL = '[hosts.h]\ntype = "shell"\n'
RAY = '[hosts.h]\ntype = "ray"\n'
SCALED = '[models.m]\npath = "m"\n[hosts.h]\ntype = "ray"\nmodels = ["m"]\n[hosts.h.scaling]\n'
OPENAI = '[hosts.h]\ntype = "openai"\nmodel = "m"\nurl = "http://127.0.0.1/v1"\n'

#: (text, line, field, words of the message, words of the hint)
TEXTS = [
    ("[hosts.h\n", 1, "", "is not valid TOML", ""),
    (b"x = '\xff'\n", 1, "", "is not UTF-8", "UTF-8"),
    ("[stor]\n", 1, "stor", "unknown field `stor`", "did you mean `store`?"),
    ("hosts = 3\n", 1, "hosts", "must be a table of hosts, got 3", "[hosts.local]"),
    ("[hosts]\nh = 3\n", 2, "hosts.h", "must be a table, got 3", "[hosts.h]"),
    ("[hosts.h]\nkinds = ['a']\n", 1, "hosts.h", "`type` is missing", 'type = "shell"'),
    ('[hosts.h]\ntype = "shel"\n', 2, "hosts.h.type", "must be a host type, got 'shel'", "did you mean `shell`?"),
    ('[hosts.h]\ntype = "slurm"\n', 2, "hosts.h.type", "must be a host type, got 'slurm'", "`openai`"),
    (PLAN + 'schedule = "0 2 * *"\n', 3, "backlogs[0].schedule", "must have five fields", "0 2 * * 1-5"),
    (PLAN + 'schedule = "0 25 * * *"\n', 3, "backlogs[0].schedule", "has a bad hour `25`", "from 0 to 23"),
    (PLAN + 'schedule = "0 2 30 2 *"\n', 3, "backlogs[0].schedule", "never comes", "in any year"),
    (PLAN + 'timezone = "UTC"\n', 3, "backlogs[0].timezone", "is for a `schedule`", "leave it out"),
    ('[[backlogs]]\nbeads = "."\nschedule = "0 2 * * *"\n', 3, "backlogs[0].schedule", "for a `plan` alone", "leave"),
    (
        AGENT + 'agent = "codex"\npermissions = "ask" # ordering of bounds\n',
        4,
        "hosts.h.permissions",
        "only an agent that speaks ACP asks",
        '"--acp"',
    ),
    (AGENT + 'agent = "codex"\npermissions = "no"\n', 4, "hosts.h.permissions", "got 'no'", ""),
    (RAY + 'address = "ray://10.0.0.5:10001"\n', 3, "hosts.h.address", "must be the address", "own port"),
    (RAY + 'address = "10.0.0.5"\n', 3, "hosts.h.address", "must be the address", '"10.0.0.5:6379"'),
    (RAY + 'workspace = "src"\n', 3, "hosts.h.workspace", "must be an absolute path", "leave it out"),
    (RAY + 'place_within = "soon"\n', 3, "hosts.h.place_within", "must be a length of time", ""),
    (RAY + 'nodes = { "" = "x" }\n', 3, "hosts.h.nodes.", "must be labels of nodes", "kind"),
    (SCALED + "maximum = 3\n", 7, "hosts.h.scaling.maximum", "unknown field", "max"),
    (SCALED + "max = 0\n", 7, "hosts.h.scaling.max", "must be at least 1, got 0", "leave out `models`"),
    (SCALED + "min = -1\n", 7, "hosts.h.scaling.min", "must be 0 or more", ""),
    (SCALED + "min = 4\nmax = 2\n", 7, "hosts.h.scaling.min", "at most `max` (2), got 4", ""),
    (SCALED + 'idle = "soon"\n', 7, "hosts.h.scaling.idle", "must be a length of time, got 'soon'", ""),
    (SCALED + "drain = 0\n", 7, "hosts.h.scaling.drain", "above 0, got 0", ""),
    (SCALED + "worker = { gpus = -1 }\n", 7, "hosts.h.scaling.worker.gpus", "0 or more, got -1", ""),
    (
        SCALED + "worker = { gpus = 0 } # ordering of bounds\n",
        7,
        "hosts.h.scaling.worker",
        "must say what a worker reserves",
        "gpus = 1",
    ),
    (SCALED + "budget_per_hour = 5 # ordering of bounds\n", 7, "hosts.h.scaling.budget_per_hour", "needs", "costs"),
    (
        SCALED + "budget_per_hour = 5 # ordering of bounds\ncost_per_hour = 6\n",
        7,
        "hosts.h.scaling.budget_per_hour",
        "must pay for at least 1 worker, got 5",
        "6 an hour",
    ),
    (RAY + "scaling = { max = 2 } # ordering of bounds\n", 3, "hosts.h.scaling", "this host has none", "models ="),
    ("[hosts.h]\ntype = 3\n", 2, "hosts.h.type", "must be a host type, got 3", "`openai`"),
    ('[hosts."a b"]\ntype = "shell"\n', 1, "hosts.a b", "must not have blanks", "a-b"),
    (SHELL + 'kindz = ["a"]\n', 3, "hosts.h.kindz", "unknown field `hosts.h.kindz`", "did you mean `kinds`?"),
    (SHELL + 'url = "http://x"\n', 3, "hosts.h.url", "`url` is a field of openai and worker hosts only", "the fields"),
    (SHELL + "kinds = []\n", 3, "hosts.h.kinds", "must name the kinds", "leave it out"),
    (SHELL + 'kinds = "code"\n', 3, "hosts.h.kinds", "must be a list of strings, got 'code'", ""),
    (SHELL + "width = 0\n", 3, "hosts.h.width", "must be at least 1, got 0", "the clutch decides"),
    (SHELL + 'width = "4"\n', 3, "hosts.h.width", "must be a whole number or { min, start, max }", "clutch"),
    (SHELL + "width = true\n", 3, "hosts.h.width", "must be a whole number or { min, start, max }", "clutch"),
    (SHELL + "width = { min = 4, max = 2 }\n", 3, "hosts.h.width", "must have min ≤ start ≤ max", ""),
    (SHELL + "width = { mx = 2 }\n", 3, "hosts.h.width.mx", "unknown field", "did you mean `max`?"),
    (SHELL + "lanes = { code = 0 }\n", 3, "hosts.h.lanes.code", "must be at least 1, got 0", "`kinds`"),
    (SHELL + "rate = { requests_per_minute = 0 }\n", 3, "hosts.h.rate.requests_per_minute", "above 0, got 0", "leave"),
    (SHELL + "prices = { tokens_in = -3 }\n", 3, "hosts.h.prices.tokens_in", "0 or more, got -3", ""),
    (SHELL + "prices = { input = 3 }\n", 3, "hosts.h.prices.input", "unknown field", "tokens_in"),
    (SHELL + "rate = { rpm = 5 }\n", 3, "hosts.h.rate.rpm", "unknown field", "requests_per_minute"),
    (SHELL + "resources = { gpu = inf }\n", 3, "hosts.h.resources.gpu", "must be a finite number", ""),
    (SHELL + 'env = { "A=B" = "x" }\n', 3, "hosts.h.env.A=B", "is not a name of an environment variable", "`=`"),
    (SHELL + 'env = { A = "\\u0000" }\n', 3, "hosts.h.env.A", "has a NUL byte", "take the"),
    (SHELL + 'cwd = "../x"\n', 3, "hosts.h.cwd", "leaves the workspace", ""),
    (SHELL + 'grace = "soon"\n', 3, "hosts.h.grace", "must be a length of time, got 'soon'", '"90s"'),
    (AGENT + 'agent = "claud"\n', 3, "hosts.h.agent", "claude", ""),
    (AGENT, 1, "hosts.h", "`agent` is missing", "claude"),
    (AGENT + "agent = { run = [] }\n", 3, "hosts.h.agent", "names no program", "my-agent"),
    (AGENT + 'agent = { run = ["x"], reads = "y" }\n', 3, "hosts.h.agent.reads", "claude", ""),
    (AGENT + 'agent = "claude"\nlimits = { cost = 0 }\n', 4, "hosts.h.limits.cost", "above 0, got 0", ""),
    (AGENT + 'agent = "claude"\nidle = "soon"\n', 4, "hosts.h.idle", "must be a length of time", '"90s"'),
    (SHELL + 'overloaded = "(busy"\n', 3, "hosts.h.overloaded", "must be a regular expression", '"rate limit'),
    (SHELL + "grace = -1\n", 3, "hosts.h.grace", "0 or more, got -1", ""),
    (SHELL + 'probe = "ollama"\n', 3, "hosts.h.probe", 'must be "local" or "nvml" or "none", got \'ollama\'', ""),
    (SHELL + 'fallback = "yes"\n', 3, "hosts.h.fallback", "must be true or false", ""),
    ('[hosts.h]\ntype = "openai"\nmodel = "m"\n', 1, "hosts.h", "`url` is missing", "http://127.0.0.1"),
    (
        OPENAI.replace("127.0.0.1", "10.0.0.7") + 'probe = "nvml"\n',
        5,
        "hosts.h.probe",
        "reads this machine, but the server of this host is at http://10.0.0.7/v1",
        'such as "ollama"',
    ),
    (OPENAI + 'probe = "olama"\n', 5, "hosts.h.probe", "must be", "did you mean `ollama`?"),
    (OPENAI + 'api = "completions"\n', 5, "hosts.h.api", 'must be "chat" or "embeddings"', ""),
    (OPENAI + 'api_key = "sk-1234"\n', 5, "hosts.h.api_key", "API keys must not be stored in files", "api_key_env"),
    (OPENAI + 'api_key_env = "sk-1234"\n', 5, "hosts.h.api_key_env", "not the secret itself", "OPENAI_API_KEY"),
    (
        OPENAI.replace("127", "me:sk-1234@127"),
        4,
        "hosts.h.url",
        "must not have a user name or password in it",
        "api_key_env",
    ),
    (OPENAI.replace("http:", "ftp:"), 4, "hosts.h.url", "must be an address", "http://127.0.0.1"),
    (OPENAI.replace("127.0.0.1", "[::1"), 4, "hosts.h.url", "must be an address", ""),
    (OPENAI.replace('"m"', '""'), 3, "hosts.h.model", "must name a model", ""),
    ('[[rules]]\nkind = "a"\n', 1, "rules[0]", "`after` is missing", ""),
    ('[[rules]]\nkind = "a"\nafter = "b"\nleft = -1\n', 4, "rules[0].left", "must be 0 or more, got -1", ""),
    ('[rules]\nkind = "a"\n', 1, "rules", "must be a list of tables", "[[rules]]"),
    ('[store]\ndurability = "forever"\n', 2, "store.durability", 'must be "power" or "crash"', ""),
    ('[store]\ndir = ""\n', 2, "store.dir", "must name a directory", ".manyhands"),
    ("store = 1\n", 1, "store", "must be a table of dir, url, durability, got 1", ""),
]


@pytest.mark.parametrize(("text", "line", "field", "message", "hint"), TEXTS, ids=lambda value: str(value)[:50])
def test_a_bad_value_is_told_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, field: str, message: str, hint: str
) -> None:
    refused = refusal(tmp_path, text)
    [problem] = refused.problems
    assert (problem.line, problem.field) == (line, field)
    assert message in problem.message
    assert hint in problem.hint
    assert "sk-1234" not in repr(problem)
    assert "sk-1234" not in refused.message + refused.hint


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = SHELL + 'width = 0\nkindz = []\n[hosts.g]\ntype = "openai"\n[store]\ndurability = 5\n'
    refused = refusal(tmp_path, text)
    assert [problem.line for problem in refused.problems] == [3, 4, 5, 5, 8]
    assert refused.message.startswith("config `manyhands.toml` line 3: `hosts.h.width` must be at least 1")


@pytest.mark.parametrize(
    ("variable", "value", "message", "hint"),
    [
        ("MANYHANDS_STORE_DURABILITY", "forever", 'must be "power" or "crash", got \'forever\'', ""),
        ("MANYHANDS_STORE_DRI", "x", "there is no such setting", "did you mean `MANYHANDS_STORE_DIR`?"),
        ("MANYHANDS_HOSTS_G_WIDTH", "3", "no such host", "MANYHANDS_HOSTS_H_WIDTH"),
        ("MANYHANDS_HOSTS_H_WIDTH", "many", "must be a whole number", "clutch"),
        ("MANYHANDS_HOSTS_H_WIDTH", "0", "must be at least 1", "clutch"),
        ("MANYHANDS_HOSTS_H_LANES", "code=2", "a variable cannot say this", ""),
        ("MANYHANDS_HOSTS_H_FALLBACK", "maybe", "must be true or false, got 'maybe'", ""),
    ],
)
def test_a_bad_variable_is_told_by_its_name(tmp_path: Path, variable: str, value: str, message: str, hint: str) -> None:
    problem = only_problem(tmp_path, SHELL, {variable: value})
    assert variable in problem.file
    assert message in problem.message
    assert hint in problem.hint


def test_a_bad_flag_is_told(tmp_path: Path) -> None:
    problem = only_problem(tmp_path, SHELL, flags={"store.durability": "x"})
    assert (problem.file, problem.field) == ("flag", "store.durability")


def test_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigRefused, match="there is no such file"):
        load_config(tmp_path, environ={}, config_file=Path("nosuch.toml"))
    with pytest.raises(ConfigRefused, match="is a directory"):
        load_config(tmp_path, environ={}, hosts_file=tmp_path)


def test_a_hosts_file_has_hosts_only(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text('[store]\ndir = "x"\n')
    problem = only_problem(tmp_path, SHELL, hosts_file=Path("hosts.toml"))
    assert (problem.field, problem.line) == ("store", 1)
    assert problem.file.endswith("hosts.toml")
