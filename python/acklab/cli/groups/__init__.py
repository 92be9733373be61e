"""The commands, a module for each group. Importing this package registers them, in this order.

Each command imports its implementation when it is called, so that help and completion are fast.
"""

from acklab.cli.groups import simulate, emulate, deploy, captures, results, scenarios  # isort: skip

__all__ = ["captures", "deploy", "emulate", "results", "scenarios", "simulate"]
