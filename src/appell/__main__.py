"""`python -m appell`: the command line where the program `appell` is not on the path."""

from appell.cli import main

main()
