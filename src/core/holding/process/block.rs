//! Blocks of work space: they are reserved again and again, and their lines do not say by which context.

use super::{Context, Process};
use crate::core::holding::buffers::Held;
use crate::core::parse::llama::Kind;

impl Process {
    /// Work space. Whose it is shows when its block is whole; a context that has none yet is told at once.
    pub fn compute(&mut self, ns: u64, name: &str, bytes: u64) -> bool {
        if self.block.find(Kind::Compute, name).is_some() {
            self.settle(None);
        }
        let _ = self.young(ns);
        let added = self.block.add(Kind::Compute, name, bytes);
        if let Some(context) = self.contexts.last_mut().filter(|c| c.nodes.is_none()) {
            match context.compute.find(Kind::Compute, name) {
                Some(share) => share.bytes = bytes,
                None => return context.compute.add(Kind::Compute, name, bytes),
            }
        }
        added
    }

    /// The block of work space is whole: it takes the place of the one that its context had.
    pub fn settle(&mut self, nodes: Option<u64>) {
        if self.block.shares.is_empty() {
            return;
        }
        let block = std::mem::take(&mut self.block);
        let (owner, certain) = self.owner(&block, nodes);
        let Some(context) = owner.and_then(|n| self.contexts.get_mut(n)) else { return };
        if certain {
            context.compute = block;
        } else {
            // Neither nodes nor names tell whose it is: the larger is kept.
            for share in &block.shares {
                match context.compute.find(share.kind, &share.name) {
                    Some(known) => known.bytes = known.bytes.max(share.bytes),
                    None => _ = context.compute.add(share.kind, &share.name, share.bytes),
                }
            }
        }
        context.nodes = nodes.or(context.nodes);
    }

    /// Which context reserved a block, and whether that is certain.
    fn owner(&self, block: &Held, nodes: Option<u64>) -> (Option<usize>, bool) {
        let youngest = self.contexts.len().checked_sub(1);
        let fresh = self.contexts.last().is_some_and(|c| c.nodes.is_none());
        if self.contexts.len() < 2 || fresh {
            return (youngest, true);
        }
        let only = |test: &dyn Fn(&Context) -> bool| {
            let mut fitting = (0..self.contexts.len()).filter(|n| test(&self.contexts[*n]));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let by_nodes = nodes.and_then(|_| only(&|c| c.nodes == nodes));
        let same_names = |c: &Context| {
            c.compute.shares.len() == block.shares.len()
                && c.compute.shares.iter().all(|s| block.shares.iter().any(|b| b.name == s.name))
        };
        match by_nodes.or_else(|| only(&same_names)) {
            Some(n) => (Some(n), true),
            None => (youngest, false),
        }
    }
}
