"""What `manyhands help TOPIC` prints: the words that one meets first, each in a few sentences."""

TOPICS = {
    "first-steps": """
        How to begin in a repository of your own. `manyhands init` looks at the directory and writes manyhands.toml and
        a first plan. `manyhands doctor` says what is wrong, each with its fix. `manyhands run first-plan.toml` runs it.

        `manyhands do "Add type hints to src/"` does without a plan. `manyhands demo` shows a story of half a minute on
        programs that stand in for agents.
    """,
    "width": """
        How many attempts run at once, and who decides. The width of a host is the most attempts that run there. Leave
        `width` out of a host, and the clutch finds it: it doubles while nothing shows trouble, then grows only where
        growth raised throughput, and narrows after an overload.

        `manyhands host` shows the widths with their reasons. `manyhands host width HOST N` pins one, and without N the
        clutch decides again. `manyhands run -j N` bounds a whole run.
    """,
    "claims": """
        Which files a task uses. `claims = { write = ["src/**"], append = ["CHANGELOG.md"], read = ["docs/**"] }` says
        what a task writes, appends to and reads. Tasks with conflicting claims never run at the same time.

        A command without claims may write anywhere, so such tasks run one at a time. Write `claims = {}` for a task
        that touches no files. `manyhands task explain TASK` names the file that a task waits for.
    """,
    "landing": """
        How the work of agents becomes commits. A task with `workspace = "worktree"` works in a git worktree of its own.
        When its check has passed, its change lands on your branch as one commit, one task after the other.

        If the branch has moved meanwhile, the change is merged and the check runs again.
    """,
    "states": """
        What the states of a task mean. blocked: it waits for another task. ready: it may start. running: an attempt is
        in flight. backoff: it is tried again after a delay. deferred: a person or a rule has put it off.

        done, failed (out of attempts), cancelled (by a person) and skipped (it needs a task that did not end well) are
        final until somebody retries them.
    """,
    "stopping": """
        How a run is stopped and continued. Press Ctrl-C once: nothing new starts, and running attempts finish. Press it
        again to stop them too. The same command continues from there, also after a crash or a power cut.

        From another terminal, `manyhands task cancel TASK` cancels tasks, `manyhands host pause HOST` lets a host rest,
        and `manyhands top` does both with keys.
    """,
    "watching": """
        How to see what runs. On a terminal, `manyhands run` draws the lanes and what each attempt printed last.
        `--follow` serves a page too. `manyhands top` shows a running store from another terminal, or with --url from
        another machine. `manyhands task log -f TASK` follows one task.

        Afterwards, `manyhands review` tells what happened, and `manyhands page` replays it.
    """,
    "exit-codes": """
        What the exit codes mean. 0: everything is done. 1: at least one task did not succeed. 2: the usage or the input
        is wrong, and nothing was done. 75: stopped, busy or not available now; try the same command again.
    """,
    "files": """
        Where things are. manyhands.toml in this directory, or the nearest one above it, has the hosts. .manyhands
        beside it has the journal and what attempts printed; git ignores it. `--config`, `--hosts` and `--store` name
        others. A plan is any file in TOML, YAML or JSONL that you give to `manyhands run`.
    """,
    "environment": """
        The variables that manyhands reads. NO_COLOR turns colours off. MANYHANDS_TOKEN is the token for --url. A
        setting can come from the environment too: `manyhands config` shows each setting and where it comes from.

        Attempts get variables that begin with MANYHANDS_: the task, the prompt, how the last attempt ended, and files
        to report to.
    """,
}
