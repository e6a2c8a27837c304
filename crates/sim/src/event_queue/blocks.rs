//! Events of the distant future, in blocks: each block covers a time span, and is sorted only when its span begins.
//!
//! In a heap of ten thousand events each removal is a path of a dozen cache misses. Here scheduling an event is a
//! search in the list of spans, which is short and stays in the cache, and a write to the end of one block; a whole
//! block is removed at once.

use super::Key;

/// An event and the slot that owns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub key: Key,
    pub slot: u32,
}

/// Blocks of events. The last block is the first in time.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// Start of each block's span, in the order of `blocks`. The span ends where that of the previous block begins.
    begins: Vec<Key>,
    blocks: Vec<Vec<Entry>>,
    /// Emptied blocks for reuse.
    spare: Vec<Vec<Entry>>,
    /// Largest number of events in a block; a fuller one is divided.
    limit: usize,
}

impl Blocks {
    /// Creates an empty list of blocks of at most `limit` events each.
    pub fn new(limit: usize) -> Blocks {
        Blocks { begins: Vec::new(), blocks: Vec::new(), spare: Vec::new(), limit }
    }

    /// Returns the start of the first span, before which there is no event.
    pub fn begin(&self) -> Key {
        self.begins.last().copied().unwrap_or(Key::NEVER)
    }

    /// Adds an event at [`Blocks::begin`] or later.
    pub fn push(&mut self, entry: Entry) {
        let index = self.begins.partition_point(|begin| *begin > entry.key);
        // INVARIANT: the last block begins where all of them do.
        let block = &mut self.blocks[index];
        block.push(entry);
        if block.len() > self.limit {
            self.divide(index);
        }
    }

    /// Adds events that come before [`Blocks::begin`], given from last to first; returns where they begin.
    pub fn prepend(&mut self, entries: impl Iterator<Item = Entry>) -> Key {
        let mut block = self.spare.pop().unwrap_or_default();
        block.extend(entries);
        if let Some(first) = block.last() {
            self.begins.push(first.key);
            self.blocks.push(block);
        }
        self.begin()
    }

    /// Removes and returns the first block, of at most `limit` events in any order.
    pub fn take_first(&mut self) -> Option<Vec<Entry>> {
        self.begins.pop();
        self.blocks.pop()
    }

    /// Returns the memory of a block for reuse.
    pub fn give_back(&mut self, mut block: Vec<Entry>) {
        block.clear();
        self.spare.push(block);
    }

    #[cold]
    fn divide(&mut self, index: usize) {
        let block = &mut self.blocks[index];
        let middle = block.len() / 2;
        block.select_nth_unstable_by(middle, |a, b| b.key.cmp(&a.key));
        // The later half stays, with the middle as its beginning.
        let mut sooner = self.spare.pop().unwrap_or_default();
        sooner.extend(block.drain(middle + 1..));
        let begin = core::mem::replace(&mut self.begins[index], block[middle].key);
        self.begins.insert(index + 1, begin);
        self.blocks.insert(index + 1, sooner);
    }
}
