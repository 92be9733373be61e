"""`python -m acklab`, and the script `acklab`."""

import os
import signal
from types import FrameType


def main() -> None:
    """Runs the command line.

    The imports of the libraries take noticeable time. Ctrl-C during the imports ends the process
    without a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from acklab.cli import main as command_line

    command_line()


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"error: stopped: nothing incomplete was stored\n")
    os._exit(130)


if __name__ == "__main__":
    main()
