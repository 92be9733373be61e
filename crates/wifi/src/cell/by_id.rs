//! Vectors that are indexed by ids of their own type, so that an id is not used for the wrong one.

use super::backlog::TxqId;
use crate::access::FunctionId;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The index of one such vector.
pub(super) trait Id: Copy {
    fn new(place: u32) -> Self;
    fn place(self) -> usize;
}

impl Id for TxqId {
    fn new(place: u32) -> Self {
        Self(place)
    }

    #[inline]
    fn place(self) -> usize {
        self.0 as usize
    }
}

impl Id for FunctionId {
    fn new(place: u32) -> Self {
        Self(place)
    }

    #[inline]
    fn place(self) -> usize {
        self.0 as usize
    }
}

/// A vector whose elements are added and never removed.
#[derive(Clone, Debug)]
pub(super) struct ById<I, T> {
    things: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        Self { things: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> ById<I, T> {
    pub(super) fn push(&mut self, thing: T) -> I {
        self.things.push(thing);
        I::new(self.things.len() as u32 - 1)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.things.len() as u32).map(I::new)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.things.iter_mut()
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.things[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.things[id.place()]
    }
}
