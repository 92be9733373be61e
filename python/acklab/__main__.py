"""`python -m acklab`."""

from acklab.cli import main

main()
