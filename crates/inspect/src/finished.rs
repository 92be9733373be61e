//! Connections that are described: those with the most octets.

use crate::report::{Connection, Curves};

/// Directions with points for figures: a page shows six, and leaves out those of few segments.
const MAX_DRAWN: usize = 8;

/// Descriptions of connections, in bounded memory.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    connections: Vec<Connection>,
    count: u64,
    /// Connections that are kept.
    most: usize,
}

impl Finished {
    /// Keeps the descriptions of `most` connections.
    pub(crate) const fn new(most: usize) -> Self {
        Self { connections: Vec::new(), count: 0, most }
    }

    /// A connection has ended.
    pub(crate) fn push(&mut self, connection: Connection) {
        self.count += 1;
        self.connections.push(connection);
        if self.connections.len().is_multiple_of(MAX_DRAWN) {
            self.draw_largest();
        }
        if self.connections.len() >= 2 * self.most.max(1) {
            self.keep_largest();
        }
    }

    fn keep_largest(&mut self) {
        self.connections.sort_by(|one, other| other.octets.cmp(&one.octets).then(one.start.total_cmp(&other.start)));
        self.connections.truncate(self.most);
        self.draw_largest();
    }

    /// Drops the points for figures of all but the largest directions: they are most of the memory
    /// of a report.
    fn draw_largest(&mut self) {
        let ways = self.connections.iter_mut().flat_map(|connection| &mut connection.ways);
        let mut drawn: Vec<_> = ways.filter(|way| !way.curves.windows.is_empty()).collect();
        drawn.sort_by_key(|way| std::cmp::Reverse(way.data_octets));
        drawn.into_iter().skip(MAX_DRAWN).for_each(|way| way.curves = Curves::default());
    }

    /// The number of connections, and the largest of them, largest first.
    pub(crate) fn largest(mut self) -> (u64, Vec<Connection>) {
        self.keep_largest();
        (self.count, self.connections)
    }
}
