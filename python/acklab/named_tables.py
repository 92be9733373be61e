"""Tables of results by name, of a run or of a sweep over all its points."""

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class NamedTables:
    """Tables as properties.

    In a sweep, each table begins with the columns `point`, one per key of the grid, and `seed`.
    """

    @abstractmethod
    def table(self, name: str) -> "pl.DataFrame":
        """Returns a table as a Polars frame."""

    @property
    def flows(self) -> "pl.DataFrame":
        """Returns one row per flow: its settings and its metrics over the measurement window."""
        return self.table("flows")

    @property
    def links(self) -> "pl.DataFrame":
        """Returns one row per direction of a link."""
        return self.table("links")

    @property
    def stations(self) -> "pl.DataFrame":
        """Returns one row per node of a Wi-Fi cell, access point first: its metrics as a sender."""
        return self.table("stations")

    @property
    def airtime(self) -> "pl.DataFrame":
        """Airtime [ns] of each node of a Wi-Fi cell, by use."""
        return self.table("airtime")

    @property
    def hack(self) -> "pl.DataFrame":
        """Returns one row per node of a Wi-Fi cell with TCP/HACK, access point first.

        The columns count ACKs carried in response frames, and the outcome of these ACKs.
        """
        return self.table("hack")

    @property
    def objects(self) -> "pl.DataFrame":
        """One row per object of each page: its size, and times of request, start and end."""
        return self.table("objects")

    @property
    def completions(self) -> "pl.DataFrame":
        """Returns one row per flow with copies of finite size and class of sizes.

        It has the number of complete copies, and percentiles of their times [s].
        """
        return self.table("completions")

    @property
    def network(self) -> "pl.DataFrame":
        """Returns one row: sums and means over all flows and links."""
        return self.table("network")

    @property
    def acks(self) -> "pl.DataFrame":
        """Number of acknowledgements of each flow, by reason."""
        return self.table("acks")

    @property
    def operating_point(self) -> "pl.DataFrame":
        """Window, flight [segments] and smoothed RTT [ms] at each ACK that reaches a sender."""
        return self.table("operating_point")

    @property
    def throughput(self) -> "pl.DataFrame":
        """Throughput [Mbps] of each flow in each bin of time [s, end of the bin]."""
        return self.table("throughput")

    @property
    def queue(self) -> "pl.DataFrame":
        """Length [packets] of each queue whenever it changes."""
        return self.table("queue")

    @property
    def packets(self) -> "pl.DataFrame":
        """Returns each packet sent, retransmitted, received or acknowledged, by number."""
        return self.table("packets")

    @property
    def events(self) -> "pl.DataFrame":
        """Decisions of endpoints: timeouts, recovery, changes of state."""
        return self.table("events")

    @property
    def decisions(self) -> "pl.DataFrame":
        """Returns each decision of an ACK policy.

        A row has the time of the decision, the reason, and the amount of unacknowledged data. If
        the ACK is sent later, `delay` [ms] is the time until then.
        """
        return self.table("decisions")

    @property
    def air(self) -> "pl.DataFrame":
        """Returns the PPDUs of cells: start [s], duration [µs], sender, receiver, type, fate."""
        return self.table("air")
