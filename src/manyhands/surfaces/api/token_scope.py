"""What a token allows. The command line declares it too, so this module loads nothing else."""

import enum


class TokenScope(enum.StrEnum):
    READ = "read"  # look at everything
    ADD = "add"  # also add tasks
    COMMAND = "command"  # everything

    def covers(self, other: "TokenScope") -> bool:
        order = list(TokenScope)
        return order.index(self) >= order.index(other)
