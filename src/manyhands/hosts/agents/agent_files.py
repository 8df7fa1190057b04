"""The files of an agent's attempt, beside those of every attempt."""

#: Everything that the program printed, unchanged. The other file has its standard error.
RAW_FILE = "agent.jsonl"
ERRORS_FILE = "agent.stderr"
PROMPT_FILE = "prompt.txt"
SAYING_FILE = "said.txt"  # all that the agent is told
