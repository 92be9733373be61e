//! Reuses memory for blocks of data. New memory costs a page fault for each of its pages.

use super::lock;
use acklab_transport::octets::BLOCK;
use bytes::Bytes;
use std::sync::{Arc, Mutex};

/// The maximum number of unused blocks of an endpoint.
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Pool {
    blocks: Mutex<Vec<Vec<u8>>>,
}

/// A block that returns to its pool when it is dropped.
#[derive(Debug)]
struct Pooled {
    block: Vec<u8>,
    pool: Arc<Pool>,
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.block
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.block));
    }
}

impl Pool {
    fn pop(&self) -> Vec<u8> {
        lock(&self.blocks).pop().unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }

    /// Returns an empty block for the peer's data. Returns `None` if the host has no memory.
    pub(crate) fn try_take(&self) -> Option<Vec<u8>> {
        let mut block = self.try_pop()?;
        block.clear();
        Some(block)
    }

    /// Returns an empty block for an application's data.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut block = self.pop();
        block.clear();
        block
    }

    fn try_pop(&self) -> Option<Vec<u8>> {
        if let Some(block) = lock(&self.blocks).pop() {
            return Some(block);
        }
        let mut block = Vec::new();
        block.try_reserve_exact(BLOCK).ok()?;
        Some(block)
    }

    /// Returns a block with its former content. Returns `None` if the host has no memory.
    pub(crate) fn try_take_whole(&self) -> Option<Vec<u8>> {
        let mut block = self.try_pop()?;
        block.resize(BLOCK, 0);
        Some(block)
    }

    /// Returns an unused block to the pool.
    fn give(&self, block: Vec<u8>) {
        let mut blocks = lock(&self.blocks);
        if blocks.len() < MOST {
            blocks.push(block);
        }
    }

    /// Converts a block to bytes that can be shared. The memory is reused once all references are
    /// dropped.
    pub(crate) fn share(self: &Arc<Self>, block: Vec<u8>) -> Bytes {
        // The pool does not keep small blocks, because they are cheap to allocate.
        if block.capacity() == BLOCK {
            Bytes::from_owner(Pooled { block, pool: Arc::clone(self) })
        } else {
            block.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_returns_once_nobody_holds_a_part_of_it() {
        let pool = Arc::<Pool>::default();
        let mut block = pool.take();
        block.extend_from_slice(&[7; 100]);
        let (place, mut all) = (block.as_ptr(), pool.share(block));
        let part = all.split_to(10);
        drop(all);
        assert_eq!((lock(&pool.blocks).len(), &part[..]), (0, [7; 10].as_slice()));
        drop(part);
        let block = pool.take();
        assert_eq!((block.as_ptr(), block.len()), (place, 0), "the same memory");
        drop(pool.share(block));
        let block = pool.try_take_whole().unwrap();
        assert_eq!((block.as_ptr(), block.len()), (place, BLOCK));
        drop(pool.share(vec![1; 10]));
        assert!(lock(&pool.blocks).is_empty(), "small blocks are not kept");
    }
}
