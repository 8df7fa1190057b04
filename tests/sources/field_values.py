"""Good and bad values of every field of a plan, a config and an eval spec, and where a table of a config stands."""

from typing import Any

GOOD_NAMES = ["a", "lint-7", "größe", "x" * 200, "a.b", "..."]
BAD_NAMES = ["", "a b", "a/b", "x" * 201, "a\tb", "a\u202eb", ".", "..", "a\n", 5, None, True]
WRONG = [None, True, -1, 0, 1.5, "", "x", [], {}, [1], {"a": 1}, "two words"]
DURATIONS = ["30s", "20m", "1h30m", " 500 ms", "0s", "0h0m", "soon", "90", "5s\n", "-5s", "1" * 13 + "s", 1, 0.5, 0, -5]
DURATIONS += [True, "1h" * 50, "1h" * 51]
COUNTS = [1, 7, 0, -1, "1", 1.5, True]
AMOUNTS = [0, 0.5, 3, -1, -0.1, "1", True]
COMMANDS = [["x"], ["x", ""], [" "], ["", "x"], [], "x", ["x", 3], [3]]
FUNCTIONS = ["a:b", "a.b:c.d", "größe:x", "", "a", "a:", ":b", "1:b", "a b:c", "a:b\n", 3]
ENVS = [{}, {"A": "x"}, {"A=B": "x"}, {"": "x"}, {"A": 1}, []]
TABLES_OF_AMOUNTS = [{}, {"gpu": 1}, {"gpu": -1}, {"gpu": "1"}, {"gpu": 1, "cpu": 0.5}]
VARIABLES = ["", "KEY", "_a1", "sk-123", "1A", "A B", "KEY\n", 3]
ADDRESSES = ["http://127.0.0.1:11434/v1", "https://x", "HTTP://x/y?z#a", "http://[::1]:80/", "ftp://x", "http://", "x"]
ADDRESSES += ["http://me:sk@x/v1", "http://me@x", "http://x:65536/", "http://x:65535/", "http://x y/", "http://x/a@b"]
ADDRESSES += ["http://[::1/v1", "", 3]
CLAIMS = [None, {}, {"write": ["a"]}, {"wirte": ["a"]}, {"write": "a"}, {"read": [3]}, ["a"], {"read": ["../x"]}]
TEXTS = ["", "x", "two words", 3, None, ["x"]]
FLAGS = [True, False, 0, "yes", None]
LISTS = [[], ["x"], ["x", "y"], "x", [1], None]

TASK: dict[str, list[Any]] = {
    "id": GOOD_NAMES + BAD_NAMES,
    "kind": [*GOOD_NAMES, *BAD_NAMES, "co*", "a?", "[a"],
    "title": [*TEXTS, "x" * 10_000, "x" * 10_001],
    "priority": [0, 1, 4, 5, -1, 1.5, "1", "P1", "high", True, None],
    "needs": LISTS,
    "claims": CLAIMS,
    "run": COMMANDS,
    "call": FUNCTIONS,
    "prompt": TEXTS,
    "args": [None, {}, {"a": [1, {"b": None}]}, [1], "x"],
    "check": COMMANDS,
    "env": [*ENVS, None],
    "cwd": ["", "src", "a/b", "../x", "/tmp", 3],
    "workspace": ["", "worktree", "other", True],
    "save": ["", "docs/{id}.md", "../x", "a*", ".git/x", 3],
    "stage": ["", "draft", "planned", "idea", True],
    "keep": [[], ["build/*.html"], ["../x"], ["db:main"], "x", [3]],
    "approve": [True, False, "yes", 1],
    "timeout": [*DURATIONS, None],
    "attempts": COUNTS,
    "parent": TEXTS,
    "host": TEXTS,
    "preemptible": FLAGS,
    "barrier": [*FLAGS, "x"],
    "family": GOOD_NAMES + BAD_NAMES,
    "once": FLAGS,
    "deferred": [*FLAGS, "after the release", "x ", " x", "a\nb", "a \n b", ""],
    "resources": [*TABLES_OF_AMOUNTS, None],
    "limits": [{"turns": 3, "cost": 0.5, "tokens": 100}, {"turns": 0}, {"cost": -1}, {"tokens": 1.5}, {"x": 1}, {}, 1],
    "labels": LISTS,
    "app": TEXTS,
    "reply_to": TEXTS,
    "timout": [3],
}
PLAN = {
    "name": TEXTS,
    "parents": [{}, {"a": 1}, {"a": 0}, {"a": "1"}, []],
    "concurrency": [*COUNTS, None],
    "fail_fast": FLAGS,
    "title": TEXTS,
    "goal": TEXTS,
    "description": TEXTS,
    "epics": [
        {},
        {"a": {}},
        {"a": {"title": "t", "goal": "g"}},
        {"a": {"titel": "t"}},
        {"a": "t"},
        {"a": {"goal": 1}},
        [],
    ],
    "lessons": FLAGS,
    "colour": [1],
}
HOST: dict[str, list[Any]] = {
    "kinds": [["*"], ["a", "b"], [], [""], "a", [1]],
    "width": [1, 4, 0, -1, "4", True, 1.5, {}, {"min": 2}, {"mx": 1}, {"min": 4, "max": 2}],
    "lanes": [{}, {"a": 1}, {"a": 0}, {"a": "1"}, []],
    "rate": [{}, {"requests_per_minute": 1}, {"rpm": 1}],
    "fallback": FLAGS,
    "resources": TABLES_OF_AMOUNTS,
    "prices": [None, {}, {"tokens_in": 1}, {"tokens_out": -1}, {"input": 1}],
    "account": ["", "a", "a b", 3],
    "quiet": [
        [],
        ["22:00-06:00"],
        ["22:00–06:00"],
        ["25:00-26:00"],
        ["22:00-22:00"],
        [" 1:00-2:00"],
        "22:00-06:00",
        [3],
    ],
}
PROGRAM = {"env": ENVS, "grace": DURATIONS}
PROCESS_LIMITS: dict[str, list[Any]] = {
    "memory_mb": [1, 0, -1, 1.5, "1"],
    "cpu": DURATIONS,
    "processes": COUNTS,
    "output_mb": AMOUNTS,
    "disk_mb": AMOUNTS,
    "x": [1],
}
QUEUE = {"take": COUNTS, "lease": DURATIONS, "commands": FLAGS}
REDIS_ADDRESSES = ["redis://h:1/0", "rediss://h", "redis://:p@h", "redis://u:p@h", "unix:///s", "http://h", "", 3]
TABLE_NAMES = ["t", "a.b", "a.b.c", "1", "a b", "", "t\n", 3]
PATTERNS = ["", "a", "429|x", "(", "a b", 3]

#: struct of the config → field → values to try. Every field of every struct has a row.
CONFIG: dict[str, dict[str, list[Any]]] = {
    "ShellHost": HOST
    | PROGRAM
    | {"cwd": ["", "src", "../x"], "overloaded": PATTERNS, "limits": [{}, {"memory_mb": 1}, {"turns": 3}, 3]}
    | {"approve": FLAGS, "probe": ["local", "none", "ollama", 3]},
    "AgentHost": HOST
    | PROGRAM
    | {"agent": ["claude", "acp", "x", "", {}, 3, {"name": "acp", "run": ["x"]}, {"run": ["x"]}, {"name": "acp"}]}
    | {"model": TEXTS, "args": LISTS, "cwd": ["", "src", "../x"], "idle": DURATIONS, "sessions": COUNTS}
    | {"limits": [{}, {"turns": 3}, {"cpu": "1h"}, {"x": 1}], "confine": ["workspace", "claims", "off", "x"]}
    | {"hide": [[], ["~/.ssh"], [""], [3], "x"], "home": ["own", "shared", "x"], "approve": FLAGS}
    | {"permissions": ["allow", "ask", "x"]}
    | {"probe": ["local", "none", "vllm"]},
    "PythonHost": HOST
    | {"grace": DURATIONS, "overloaded": PATTERNS, "probe": ["local", "nvml", "vllm"], "url": ["http://x"]},
    "OpenaiHost": HOST
    | {"url": ADDRESSES, "model": ["m", "", " ", 3], "api_key_env": VARIABLES, "api": ["chat", "completions"]}
    | {"system": TEXTS, "stream": FLAGS, "memory_gb": AMOUNTS, "api_key": ["sk"]}
    | {"probe": ["ollama", "olama", "local", {"run": ["x"]}, {"run": []}, {"url": "http://b:1"}, {"x": 1}]},
    "WorkerHost": HOST
    | {"url": ADDRESSES, "models": [[], ["m"], ["n"], "m", [1]], "model": ["", "m", "n", 3], "api_key_env": VARIABLES}
    | {"threads": [0, 3, -1, 1.5], "device": ["auto", "cuda", "tpu"], "system": TEXTS}
    | {"probe": ["local", "nvml", "none", "x"]},
    "RayHost": HOST
    | PROGRAM
    | {"place_within": DURATIONS, "models": [[], ["m"], ["n"], [1]], "model": ["", "m"], "overloaded": PATTERNS}
    | {"address": ["local", "auto", "h:1", "[::1]:80", "ray://h:1", "h", "h:123456", "", "h:1\n", 3]}
    | {"nodes": [{}, {"a": "b"}, {"": "x"}, {" ": "x"}, {"a": 1}], "workspace": ["", "/a", "a", 3]}
    | {"scaling": [{}, {"max": 2}, 3], "probe": ["none", "local", "x"]},
    "PullHost": HOST | {"lease": DURATIONS, "grace": DURATIONS, "probe": ["local", "none", "vllm"]},
    "Width": {"min": COUNTS, "start": COUNTS, "max": COUNTS, "mx": [1]},
    "Rate": {"requests_per_minute": [*AMOUNTS, 60], "tokens_per_minute": [*AMOUNTS, 60], "rpm": [1]},
    "Prices": {"tokens_in": AMOUNTS, "tokens_out": AMOUNTS, "input": [1]},
    "ProcessLimits": PROCESS_LIMITS,
    "AgentLimits": PROCESS_LIMITS | {"turns": COUNTS, "cost": AMOUNTS, "tokens": [*AMOUNTS, 1.5, 1000]},
    "AgentProgram": {
        "name": ["", "claude", "codex", "aider", "acp", "x", 3],
        "run": COMMANDS,
        "reads": ["exit", "claude", "codex", "acp", "x", ""],
    },
    "ProbeConfig": {
        "name": ["ollama", "none", "x", 3],
        "run": COMMANDS,
        "url": ["http://b:1", "http://me:p@b", "", "x", 3],
        "token_env": VARIABLES,
    },
    "ScalingConfig": {
        "min": [0, 3, -1, 9, "1"],
        "max": [1, 4, 0, -1, True],
        "drain": DURATIONS,
        "idle": DURATIONS,
        "settle": DURATIONS,
        "cost_per_hour": AMOUNTS,
        "budget_per_hour": [*AMOUNTS, None],
        "worker": TABLES_OF_AMOUNTS,
        "maximum": [3],
    },
    "StoreConfig": {
        "dir": [".m", "", " ", 3],
        "url": ["", "postgresql://u@h/d", "mysql://h", 3],
        "durability": ["power", "x", 3],
    },
    "LandingConfig": {
        "strategy": ["three-way", "last-wins", "ours"],
        "target": TEXTS,
        "dirty": ["refuse", "stash", "keep"],
        "check": FLAGS,
        "pull_request": FLAGS,
        "approve": FLAGS,
        "approve_kinds": [[], ["a"], ["a*"], [""], [3], "a"],
    },
    "ModelConfig": {
        "path": ["m", "", 3],
        "package": ["", "p", 3],
        "task": ["", "embed", "dance"],
        "backend": ["", "onnx", "jax"],
        "pinned": FLAGS,
        "priority": [0, 4, 5, -1, "1"],
        "weight": AMOUNTS,
        "truncate": FLAGS,
        "length_max": [*COUNTS, None],
        "images_from": [[], ["https://x"], ["/pictures"], [""], [3], "x"],
        "slots": COUNTS,
        "context": [64, 63, 2048, "64"],
        "name": ["n"],
    },
    "BacklogConfig": {
        "plan": ["", "p.toml", 3],
        "beads": ["", ".", 3],
        "redis": [{"stream": "s"}, {"stream": " "}, {"stream": "s", "take": 0}, "s"],
        "postgres": [{"url_env": "A", "table": "t"}, {"url_env": "A"}, {"url_env": "A", "table": "a b"}],
        "github": [{"repository": "a/b"}, {"repository": "a"}, {"repository": "a/b", "label": " "}, "a/b"],
        "markdown": ["", "tasks", 3],
        "save": ["", "docs/{id}.md", 3],
        "weight": AMOUNTS,
        "schedule": ["0 2 * * 1-5", "", "0 2 * *", "61 2 * * *", 3],
        "timezone": ["UTC", "Europe/Berlin", "Nowhere", "", 3],
        "run": COMMANDS,
        "call": FUNCTIONS,
        "args": [{}, []],
        "check": COMMANDS,
        "workspace": ["", "worktree", "x"],
        "claims": CLAIMS,
        "timeout": DURATIONS,
        "attempts": COUNTS,
        "kinds": [{}, {"a": ["b"]}, {"a": "b"}],
        "otherwise": TEXTS,
        "conditional": ["on-failure", "on-close", "never"],
    },
    "RedisQueueConfig": QUEUE
    | {"url": REDIS_ADDRESSES, "password_env": VARIABLES, "stream": TEXTS, "group": [*TEXTS, " "]},
    "PostgresQueueConfig": QUEUE | {"url_env": VARIABLES, "table": TABLE_NAMES},
    "GithubConfig": {
        "repository": ["a/b", "a", "a/b/c", "a b/c", ""],
        "label": [*TEXTS, " "],
        "url": ADDRESSES,
        "token_env": VARIABLES,
    },
    "Claims": {"write": LISTS, "append": LISTS, "read": [*LISTS, ["../x"], ["a*"], ["db:main"]]},
    "FamilyConfig": {
        "host": ["h", "g", 3],
        "snapshot": COMMANDS,
        "disrupt": COMMANDS,
        "healthy": COMMANDS,
        "revert": COMMANDS,
        "healthy_within": DURATIONS,
        "on_failure": ["revert", "bisect", "x"],
        "order": [3, -1, "1"],
    },
    "FileSinkConfig": {"path": ["r.jsonl", "", " ", "a/", 3], "name": TEXTS},
    "WebhookSinkConfig": {
        "name": TEXTS,
        "url": ADDRESSES,
        "url_env": VARIABLES,
        "secret_env": VARIABLES,
        "timeout": DURATIONS,
    },
    "RedisSinkConfig": {
        "name": TEXTS,
        "url": REDIS_ADDRESSES,
        "password_env": VARIABLES,
        "stream": ["s", "", " ", 3],
    },
    "PostgresSinkConfig": {"name": TEXTS, "url_env": VARIABLES, "table": TABLE_NAMES},
    "RouteConfig": {
        "sinks": [[], [{}], [{"type": "file", "path": "r"}], "x"],
        "reply_to": [[], ["https://x/"], ["https://x"], ["x/"], ["https://me:p@x/"], "https://x/", [3]],
        "reply_secret_env": VARIABLES,
        "endings": [["done"], ["done", "failed"], ["lost"], "done"],
        "order": ["app", "task", "x"],
        "tries": COUNTS,
        "try": [1],
    },
    "Rule": {"kind": ["a", 3], "after": ["b", 3], "left": [0, 3, -1, 1.5], "right": [1]},
    "SpendingLimit": {
        "per": ["day", "run", "task", "host", "account", "month", "x"],
        "cost": AMOUNTS,
        "tokens": [*AMOUNTS, 1000],
        "soft": FLAGS,
        "of": [[], ["a"], ["*"], [""], [3], "a"],
    },
    "TellConfig": {
        "on": [["end"], ["failure", "person"], ["ends"], [], "end"],
        "desktop": FLAGS,
        "command": COMMANDS,
        "webhook": ADDRESSES,
        "webhook_env": VARIABLES,
        "form": ["json", "slack", "ntfy", "discord", "text"],
    },
}
_STEPS = {step: ["x"] for step in ("snapshot", "disrupt", "healthy", "revert")}
#: struct → good tables to start from.
BASES: dict[str, list[dict[str, Any]]] = {
    "ShellHost": [{"type": "shell"}],
    "AgentHost": [
        {"type": "agent", "agent": "claude"},
        {"type": "agent", "agent": {"name": "acp", "run": ["x"]}},
        {"type": "agent", "agent": {"name": "acp", "run": ["x"]}, "sessions": 2},
    ],
    "PythonHost": [{"type": "python"}],
    "OpenaiHost": [{"type": "openai", "url": "http://x/v1", "model": "m"}],
    "WorkerHost": [{"type": "worker"}],
    "RayHost": [{"type": "ray"}],
    "PullHost": [{"type": "pull"}],
    "AgentProgram": [{"name": "acp"}, {"name": "claude"}, {"run": ["x"]}, {}],
    "ScalingConfig": [{"max": 4}, {}],
    "LandingConfig": [{}, {"pull_request": True}],
    "ModelConfig": [{"path": "m"}, {"package": "m"}],
    "BacklogConfig": [
        {"plan": "p.toml"},
        {"beads": "."},
        {"redis": {"stream": "s"}},
        {"markdown": "tasks"},
        {"github": {"repository": "a/b"}},
    ],
    "RedisQueueConfig": [{"stream": "s"}],
    "PostgresQueueConfig": [{"url_env": "A", "table": "t"}],
    "GithubConfig": [{"repository": "a/b"}],
    "FamilyConfig": [{"host": "h", **_STEPS}],
    "FileSinkConfig": [{"type": "file", "path": "r"}],
    "WebhookSinkConfig": [{"type": "webhook", "url": "http://x"}],
    "RedisSinkConfig": [{"type": "redis", "stream": "s"}],
    "PostgresSinkConfig": [{"type": "postgres", "url_env": "U", "table": "t"}],
    "RouteConfig": [{"sinks": [{"type": "file", "path": "r"}]}, {"reply_to": ["https://x/"]}, {}],
    "Rule": [{"kind": "a", "after": "b"}],
    "SpendingLimit": [{"per": "day", "cost": 3}, {"per": "task", "tokens": 1000}, {"per": "run"}],
    "TellConfig": [{"desktop": True}, {"command": ["x"]}, {"webhook": "https://x"}, {"webhook_env": "A"}, {}],
}
#: A struct inside another one → that one, and the field it is in.
INSIDE: dict[str, tuple[str, str]] = {
    "Width": ("ShellHost", "width"),
    "Rate": ("ShellHost", "rate"),
    "Prices": ("ShellHost", "prices"),
    "ProcessLimits": ("ShellHost", "limits"),
    "AgentLimits": ("AgentHost", "limits"),
    "AgentProgram": ("AgentHost", "agent"),
    "ProbeConfig": ("OpenaiHost", "probe"),
    "ScalingConfig": ("RayHost", "scaling"),
    "RedisQueueConfig": ("BacklogConfig", "redis"),
    "PostgresQueueConfig": ("BacklogConfig", "postgres"),
    "GithubConfig": ("BacklogConfig", "github"),
    "Claims": ("BacklogConfig", "claims"),
}


def config_with(struct: str, table: Any) -> dict[str, Any]:
    """A config in which this is the table of the struct, and nothing else is wrong."""
    if struct in INSIDE:
        outer, field = INSIDE[struct]
        base = {} if field in ("redis", "postgres", "github") else BASES[outer][0]
        more = {"models": ["m"]} if field == "scaling" else {}
        return config_with(outer, base | more | {field: table})
    if struct.endswith("Host"):
        return {"hosts": {"h": table}, "models": {"m": {"path": "m"}}}
    if struct.endswith("SinkConfig"):
        return {"routes": {"r": {"sinks": [table]}}}
    match struct:
        case "FamilyConfig":
            return {"hosts": {"h": {"type": "shell"}}, "families": {"f": table}}
        case "ModelConfig":
            return {"models": {"m": table}}
        case "RouteConfig":
            return {"routes": {"r": table}}
        case "SpendingLimit":
            return {"budgets": {"b": table}}
        case "StoreConfig":
            return {"store": table}
        case "LandingConfig":
            return {"landing": table}
        case "BacklogConfig":
            return {"backlogs": [table]}
        case "TellConfig":
            return {"tell": [table]}
        case "Rule":
            return {"rules": [table]}
    raise AssertionError(f"where does a {struct} stand?")


EVAL = {
    "name": [*GOOD_NAMES, *BAD_NAMES],
    "replications": COUNTS,
    "sessions": COUNTS,
    "seed": [0, -3, "1", 1.5],
    "interleave": FLAGS,
    "order": ["drawn", "swap", "x"],
    "concurrency": [1, 8, "auto", 0, -1, "many", "auto\n", True, 1.5, None],
    "timeout": DURATIONS,
    "baseline": ["", "one", "x", 3],
    "null_arm": FLAGS,
    "stop_when_decided": FLAGS,
}
ARM = {
    "name": GOOD_NAMES + BAD_NAMES,
    "run": COMMANDS,
    "call": FUNCTIONS,
    "prompt": TEXTS,
    "args": [None, {}, []],
    "env": [*ENVS, None],
    "kind": TEXTS,
    "host": TEXTS,
    "prices": HOST["prices"],
    "same_as": ["", "one", "x"],
}
CASE = {
    "name": GOOD_NAMES + BAD_NAMES,
    "prompt": TEXTS,
    "prompts": LISTS,
    "files": ["", "nosuch", 3],
    "values": [{}, {"a": "b"}, {"a": 1}],
    "expect": [None, 3, "x", {}],
    "cluster": TEXTS,
}
SCORER = {
    "name": GOOD_NAMES + BAD_NAMES,
    "type": ["done", "file", "contains", "regex", "json", "command", "tests", "python", "pairwise", "x", 3],
    "file": ["", "x", "../x", 3],
    "text": TEXTS,
    "pattern": ["", "a+", "(", 3],
    "path": ["", "a.b[0]", "a..b", 3],
    "equals": [None, 3],
    "run": COMMANDS,
    "call": FUNCTIONS,
    "host": TEXTS,
    "question": TEXTS,
    "timeout": DURATIONS,
}
