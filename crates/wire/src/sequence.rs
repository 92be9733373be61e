//! A few values in order, such as the frames of one packet.

/// Values in their order. Most sequences have one value, which needs no allocation. Their overhead
/// is small, because thousands of packets may be in flight.
#[derive(Debug)]
pub struct Sequence<T> {
    first: Option<T>,
    #[expect(clippy::box_collection, reason = "a pointer takes a third of a vector, which few sequences have")]
    rest: Option<Box<Vec<T>>>,
}

impl<T: PartialEq> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first && self.rest() == other.rest()
    }
}

impl<T: Eq> Eq for Sequence<T> {}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Self { first: None, rest: None }
    }
}

impl<T: Clone> Clone for Sequence<T> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), rest: self.rest.clone() }
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.first.clone_from(&source.first);
        self.rest.clone_from(&source.rest);
    }
}

impl<T> Sequence<T> {
    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.first.is_none() {
            self.first = Some(value);
        } else {
            self.rest.get_or_insert_default().push(value);
        }
    }

    /// Removes all values.
    #[inline]
    pub fn clear(&mut self) {
        (self.first, self.rest) = (None, None);
    }

    #[inline]
    fn rest(&self) -> &[T] {
        self.rest.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Removes all values except the first and returns the first. Inserts a default value if the
    /// sequence is empty.
    #[inline]
    pub fn only(&mut self) -> &mut T
    where
        T: Default,
    {
        self.rest = None;
        self.first.get_or_insert_default()
    }

    /// Returns the values in their order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.first.iter().chain(self.rest())
    }

    /// Returns the last value.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.rest().last().or(self.first.as_ref())
    }

    /// Returns the last value.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.rest.as_mut().and_then(|rest| rest.last_mut()).or(self.first.as_mut())
    }

    /// Returns the number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest().len()
    }

    /// Returns `true` if there are no values.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values = values.into_iter();
        let mut sequence = Self::default();
        values.for_each(|value| sequence.push(value));
        sequence
    }
}

impl<T> IntoIterator for Sequence<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest.map_or_else(Vec::new, |rest| *rest))
    }
}

impl<T> From<T> for Sequence<T> {
    fn from(value: T) -> Self {
        Self { first: Some(value), rest: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list() {
        for count in 0..4 {
            let sequence: Sequence<u32> = (0..count).collect();
            let values: Vec<u32> = (0..count).collect();
            assert_eq!((sequence.len() as u32, sequence.is_empty()), (count, count == 0));
            assert_eq!(sequence.last().copied(), values.last().copied());
            assert!(sequence.iter().eq(&values) && sequence.clone().into_iter().eq(values));
        }
    }

    #[test]
    fn what_is_removed_is_gone() {
        let mut sequence: Sequence<u32> = (1..4).collect();
        assert_eq!((*sequence.only(), sequence.len()), (1, 1));
        assert_eq!(sequence, Sequence::from(1));
        sequence.clear();
        assert_eq!((sequence.last(), &sequence), (None, &Sequence::default()));
        assert_eq!(*sequence.only(), 0);
        sequence.push(7);
        assert!(sequence.iter().eq(&[0, 7]));
    }
}
