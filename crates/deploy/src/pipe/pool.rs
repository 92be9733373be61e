//! Memory for blocks of octets, which is used again: fresh memory costs a page fault for each of its pages.

use super::lock;
use acklab_transport::octets::BLOCK;
use std::sync::Mutex;

/// Blocks that wait to be used again, of all streams of an endpoint.
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Pool {
    blocks: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    /// An empty block.
    pub(crate) fn take(&self) -> Vec<u8> {
        lock(&self.blocks).pop().unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }

    /// Nobody needs this block any more.
    pub(crate) fn give(&self, mut block: Vec<u8>) {
        // Small ones cost nothing to make.
        if block.capacity() == BLOCK {
            block.clear();
            let mut blocks = lock(&self.blocks);
            if blocks.len() < MOST {
                blocks.push(block);
            }
        }
    }
}
