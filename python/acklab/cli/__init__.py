"""The command line: results on standard output, everything else on standard error.

Exit codes: 0 done; 1 a run failed or a result could not be kept; 2 the input makes no sense; 130 stopped by Ctrl-C, within two seconds.
"""

from acklab.cli.main import main

__all__ = ["main"]
