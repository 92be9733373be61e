//! A few values in order, such as the frames of one packet.

/// Values in their order. Most sequences have one value, which takes no memory of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Sequence<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Self { first: None, rest: Vec::new() }
    }
}

impl<T: Clone> Clone for Sequence<T> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), rest: self.rest.clone() }
    }

    /// Uses the memory of `self` again.
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
            self.rest.push(value);
        }
    }

    /// Removes all values. Keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }

    /// The first value, which becomes the only one; a default if there is none.
    #[inline]
    pub fn only(&mut self) -> &mut T
    where
        T: Default,
    {
        self.rest.clear();
        self.first.get_or_insert_default()
    }

    /// The values in their order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    /// The last value.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.rest.last().or(self.first.as_ref())
    }

    /// The last value.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.rest.last_mut().or(self.first.as_mut())
    }

    /// How many there are.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.first.is_some() as usize + self.rest.len()
    }

    /// Is there none?
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut values = values.into_iter();
        Self { first: values.next(), rest: values.collect() }
    }
}

impl<T> IntoIterator for Sequence<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<T> From<T> for Sequence<T> {
    fn from(value: T) -> Self {
        Self { first: Some(value), rest: Vec::new() }
    }
}
