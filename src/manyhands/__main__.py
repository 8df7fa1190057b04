"""`python -m manyhands` is `manyhands`."""

from manyhands.cli.main import main

main()
