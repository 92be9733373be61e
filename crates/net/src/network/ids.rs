//! The machine IDs of a network.

use acklab_base::{MachineId, PortId};

/// Assigns machine IDs: first to the link directions, then to the cells, then to the ports in the
/// order of joining.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// The number of link directions.
    links: u32,
    /// The number of cells.
    cells: u32,
}

/// A machine of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// A link direction, by index.
    Link(usize),
    /// A cell, by index.
    Cell(usize),
    /// A port.
    Port(PortId),
}

impl Ids {
    pub(super) const fn new(links: usize, cells: usize) -> Self {
        Self { links: links as u32, cells: cells as u32 }
    }

    /// Returns the ID of `element`.
    #[inline]
    pub(super) const fn of(self, element: Element) -> MachineId {
        MachineId(match element {
            Element::Link(index) => index as u32,
            Element::Cell(index) => self.links + index as u32,
            Element::Port(port) => self.links + self.cells + port.0,
        })
    }

    /// Returns the machine with this ID.
    #[inline]
    pub(super) const fn element(self, machine: MachineId) -> Element {
        let MachineId(id) = machine;
        if id < self.links {
            return Element::Link(id as usize);
        }
        match id.checked_sub(self.links + self.cells) {
            None => Element::Cell((id - self.links) as usize),
            Some(port) => Element::Port(PortId(port)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_consecutive_and_lead_back_to_their_elements() {
        let ids = Ids::new(2, 1);
        let elements =
            [Element::Link(0), Element::Link(1), Element::Cell(0), Element::Port(PortId(0)), Element::Port(PortId(1))];
        for (element, id) in elements.into_iter().zip(0..) {
            assert_eq!((ids.of(element), ids.element(MachineId(id))), (MachineId(id), element));
        }
    }
}
