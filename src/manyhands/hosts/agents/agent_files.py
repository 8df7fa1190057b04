"""The files of an agent's attempt, beside those of every attempt."""

#: All that the program printed, unchanged; its standard error is in the other.
RAW_FILE = "agent.jsonl"
ERRORS_FILE = "agent.stderr"
