"""Names in the directory of an attempt, apart from the code that writes there: readers load no more than these."""

#: The copies of files that it kept.
COPIES = "artefacts"
