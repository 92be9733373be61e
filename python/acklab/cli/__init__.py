"""The command line. Results go to standard output, everything else to standard error.

Exit codes: 0 success; 1 a run failed or a result could not be stored; 2 invalid input; 130 stopped
by Ctrl-C, within two seconds.
"""

from acklab.cli.main import main

__all__ = ["main"]
