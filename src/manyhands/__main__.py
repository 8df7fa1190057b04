"""`python -m manyhands` is `manyhands`."""

from manyhands.surfaces.cli.main import main

main()
