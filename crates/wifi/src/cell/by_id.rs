//! Vectors indexed by a dedicated type, so that an ID cannot index the wrong vector.

use crate::access::EdcafId;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The ID of a frame queue for one peer and category. Such a queue corresponds to mac80211's txq,
/// and contains the state of both sides of its Block ACK agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TxqId(pub(super) u32);

/// An index into such a vector.
pub(super) trait Id: Copy {
    fn new(index: u32) -> Self;
    fn index(self) -> usize;
}

impl Id for TxqId {
    fn new(index: u32) -> Self {
        Self(index)
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for EdcafId {
    fn new(index: u32) -> Self {
        Self(index)
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A vector to which elements are only added.
#[derive(Clone, Debug)]
pub(super) struct ById<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> ById<I, T> {
    pub(super) fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() as u32 - 1)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len() as u32).map(I::new)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}
