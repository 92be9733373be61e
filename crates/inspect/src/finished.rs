//! The connections to describe: those with the most octets.

use crate::report::{Connection, Curves};

/// The maximum number of directions with points for figures. A page shows six, and omits those with
/// few segments.
const MAX_DRAWN: usize = 8;

/// Descriptions of connections, in bounded memory.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    connections: Vec<Connection>,
    count: u64,
    /// The maximum number of connections that are kept.
    maximum: usize,
}

impl Finished {
    /// Keeps the descriptions of `maximum` connections.
    pub(crate) const fn new(maximum: usize) -> Self {
        Self { connections: Vec::new(), count: 0, maximum }
    }

    /// Adds a connection that has ended.
    pub(crate) fn push(&mut self, connection: Connection) {
        self.count += 1;
        self.connections.push(connection);
        if self.connections.len().is_multiple_of(MAX_DRAWN) {
            self.draw_largest();
        }
        if self.connections.len() >= 2 * self.maximum.max(1) {
            self.keep_largest();
        }
    }

    fn keep_largest(&mut self) {
        self.connections.sort_by(|one, other| other.octets.cmp(&one.octets).then(one.start.total_cmp(&other.start)));
        self.connections.truncate(self.maximum);
        self.draw_largest();
    }

    /// Drops the points for figures of all directions except the largest, because points use most
    /// of the memory of a report.
    fn draw_largest(&mut self) {
        let directions = self.connections.iter_mut().flat_map(|connection| &mut connection.directions);
        let mut drawn: Vec<_> = directions.filter(|direction| !direction.curves.windows.is_empty()).collect();
        drawn.sort_by_key(|direction| std::cmp::Reverse(direction.data_octets));
        drawn.into_iter().skip(MAX_DRAWN).for_each(|direction| direction.curves = Curves::default());
    }

    /// Returns the number of all connections, and the largest of them, the largest first.
    pub(crate) fn largest(mut self) -> (u64, Vec<Connection>) {
        self.keep_largest();
        (self.count, self.connections)
    }
}
