//! Many stacks as one tree from the root, for flame graphs; of one profile, or of two side by side.
//!
//! Flat arrays in preorder: a node's subtree is the run from it to its `end`, so that what is too small to be seen is skipped in
//! one step.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::unordered::UnorderedMap;
use crate::model::profile::{Frame, Profile};

/// A place in the tree: all stacks that begin with the same functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Its function, an index into [`Tree::names`].
    pub name: u32,
    /// The node above; the root is its own.
    pub parent: u32,
    /// How far from the root.
    pub depth: u32,
    /// Behind the last node of its subtree.
    pub end: u32,
    /// The value of all stacks through it, of both sides.
    pub total: [f64; 2],
    /// The value of the stacks that end in it.
    pub own: [f64; 2],
}

/// Stacks merged from the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Functions; the first is the root and has no name.
    pub names: Vec<Arc<str>>,
    /// Nodes in preorder, the root first; among siblings the largest first.
    pub nodes: Vec<Node>,
    /// The value of all stacks that are drawn, of both sides.
    pub totals: [f64; 2],
    /// The sum of negative values, which profiles of a difference hold and which have no width.
    pub left_out: [f64; 2],
    /// The deepest node.
    pub depth: u32,
    /// Whether there is a second side.
    pub is_diff: bool,
}

/// What the widths of two sides mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Each side is a whole: what counts are shares.
    #[default]
    Share,
    /// Values as they are.
    Absolute,
}

impl Tree {
    /// The function of a node; empty for the root.
    pub fn name(&self, node: usize) -> &str {
        self.nodes
            .get(node)
            .and_then(|n| self.names.get(n.name as usize))
            .map_or("", |n| n.as_ref())
    }

    /// Both sides of a value on that scale.
    pub fn scaled(&self, value: [f64; 2], scale: Scale) -> [f64; 2] {
        match scale {
            Scale::Absolute => value,
            Scale::Share => [
                share(value[0], self.totals[0]),
                share(value[1], self.totals[1]),
            ],
        }
    }

    /// What the second side has more than the first.
    pub fn gain(&self, value: [f64; 2], scale: Scale) -> f64 {
        let [a, b] = self.scaled(value, scale);
        b - a
    }

    /// From −1 (only the first side has it) over 0 (equal) to 1 (only the second has it).
    pub fn lean(&self, value: [f64; 2], scale: Scale) -> f64 {
        let [a, b] = self.scaled(value, scale);
        if a + b > 0.0 { (b - a) / (a + b) } else { 0.0 }
    }

    /// The part of the whole width that a value takes.
    fn width(&self, value: [f64; 2], scale: Scale) -> f64 {
        let [a, b] = self.scaled(value, scale);
        let [all_a, all_b] = self.scaled(self.totals, scale);
        share(a + b, all_a + all_b)
    }

    /// The children of a node, the largest first.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes.get(node).map_or(0, |n| n.end as usize);
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let this = next;
            let found = self.nodes.get(this).filter(|_| this < end)?;
            next = found.end as usize;
            Some(this)
        })
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Functions by number. Frames of one profile mostly share their memory, which is told apart faster than letters.
struct Names<'a> {
    by_place: UnorderedMap<usize, u32>,
    by_name: BTreeMap<&'a str, u32>,
    list: Vec<Arc<str>>,
}

impl<'a> Names<'a> {
    fn of(&mut self, frame: &'a Frame) -> u32 {
        let place = std::ptr::from_ref(frame).addr();
        if let Some(id) = self.by_place.get(&place) {
            return *id;
        }
        let name = &frame.function;
        let next = self.list.len() as u32;
        let id = *self.by_name.entry(name.as_ref()).or_insert(next);
        if id == next {
            self.list.push(Arc::clone(name));
        }
        self.by_place.insert_first(place, id);
        id
    }
}

/// One stack: its side, its value, and where its functions stand, root first.
struct Sample {
    side: usize,
    value: f64,
    from: usize,
    to: usize,
}

/// Merges the stacks of one profile, or of two. `None` when nobody wants it any more.
pub fn tree(a: &Profile, b: Option<&Profile>, is_cancelled: &dyn Fn() -> bool) -> Option<Tree> {
    let mut names = Names {
        by_place: UnorderedMap::with_capacity(1024),
        by_name: BTreeMap::new(),
        list: vec![Arc::from("")],
    };
    let mut ids: Vec<u32> = Vec::new();
    let mut samples: Vec<Sample> = Vec::new();
    let mut left_out = [0.0; 2];
    for (side, profile) in [Some(a), b].into_iter().enumerate() {
        for (n, group) in profile.iter().flat_map(|p| &p.groups).enumerate() {
            if n % 4096 == 0 && is_cancelled() {
                return None;
            }
            if group.value < 0.0 {
                left_out[side] += group.value;
                continue;
            }
            let from = ids.len();
            ids.extend(group.frames.iter().rev().map(|f| names.of(f)));
            samples.push(Sample {
                side,
                value: group.value,
                from,
                to: ids.len(),
            });
        }
    }
    let stack = |s: &Sample| ids.get(s.from..s.to).unwrap_or_default();
    samples.sort_by(|x, y| stack(x).cmp(stack(y)));
    if is_cancelled() {
        return None;
    }
    let merged = merge(&samples, stack, is_cancelled)?;
    drop((samples, ids));
    let mut tree = Tree {
        names: names.list,
        totals: merged.first().map_or([0.0; 2], |n| n.total),
        depth: merged.iter().map(|n| n.depth).max().unwrap_or(0),
        nodes: merged,
        left_out,
        is_diff: b.is_some(),
    };
    largest_first(&mut tree);
    Some(tree)
}

/// Sorted stacks into nodes in preorder.
fn merge<'a>(
    samples: &[Sample],
    stack: impl Fn(&Sample) -> &'a [u32],
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Vec<Node>> {
    let fresh = |name, parent, depth| Node {
        name,
        parent,
        depth,
        end: 0,
        total: [0.0; 2],
        own: [0.0; 2],
    };
    let mut nodes = Vec::with_capacity(1 + new_nodes(samples, &stack));
    nodes.push(fresh(0, 0, 0));
    let mut path: Vec<usize> = vec![0];
    for (n, sample) in samples.iter().enumerate() {
        if n % 4096 == 0 && is_cancelled() {
            return None;
        }
        let names = stack(sample);
        let shared = path
            .iter()
            .skip(1)
            .zip(names)
            .take_while(|(node, name)| nodes.get(**node).is_some_and(|n| n.name == **name))
            .count();
        let len = nodes.len() as u32;
        for closed in path.drain(shared + 1..) {
            if let Some(node) = nodes.get_mut(closed) {
                node.end = len;
            }
        }
        for name in names.iter().skip(shared) {
            let parent = path.last().copied().unwrap_or(0);
            nodes.push(fresh(*name, parent as u32, path.len() as u32));
            path.push(nodes.len() - 1);
        }
        for at in &path {
            if let Some(node) = nodes.get_mut(*at) {
                node.total[sample.side] += sample.value;
            }
        }
        if let Some(node) = path.last().and_then(|at| nodes.get_mut(*at)) {
            node.own[sample.side] += sample.value;
        }
    }
    let len = nodes.len() as u32;
    for open in path {
        if let Some(node) = nodes.get_mut(open) {
            node.end = len;
        }
    }
    Some(nodes)
}

/// How many nodes sorted stacks make: what each has beyond what it shares with the one before.
fn new_nodes<'a>(samples: &[Sample], stack: &impl Fn(&Sample) -> &'a [u32]) -> usize {
    let mut before: &[u32] = &[];
    let mut count = 0;
    for sample in samples {
        let names = stack(sample);
        let shared = before.iter().zip(names).take_while(|(a, b)| a == b).count();
        count += names.len() - shared;
        before = names;
    }
    count
}

/// Puts the largest of siblings first, so that drawing can stop at the first one that is too small. In place: a tree may be most
/// of what a profile takes.
fn largest_first(tree: &mut Tree) {
    // Which node of the old order stands at each place of the new one.
    let mut order: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    // Node of the old order, and its parent's place in the new one.
    let mut open: Vec<(usize, u32)> = vec![(0, 0)];
    let mut children: Vec<usize> = Vec::new();
    while let Some((old, parent)) = open.pop() {
        children.clear();
        children.extend(tree.children(old));
        // Smallest first: the last one that is put down is taken up first.
        children.sort_by(|x, y| {
            let width = |n: &usize| {
                tree.nodes
                    .get(*n)
                    .map_or(0.0, |n| tree.width(n.total, Scale::Share))
            };
            width(x)
                .total_cmp(&width(y))
                .then_with(|| tree.name(*y).cmp(tree.name(*x)))
        });
        let at = order.len() as u32;
        // Nobody looks at the old parent, nor at the old end of a node whose children are known.
        if let Some(node) = tree.nodes.get_mut(old) {
            node.parent = parent;
            node.end = at + (node.end - old as u32);
        }
        order.push(old as u32);
        open.extend(children.iter().map(|c| (*c, at)));
    }
    permute(&mut tree.nodes, order);
}

/// Puts at each place what stands at the place that `order` names, along the cycles of the permutation.
fn permute<T: Copy>(items: &mut [T], mut order: Vec<u32>) {
    for start in 0..items.len().min(order.len()) {
        let Some(first) = items.get(start).copied() else {
            return;
        };
        let mut to = start;
        while let Some(from) = order.get_mut(to) {
            let from = std::mem::replace(from, to as u32) as usize;
            let item = if from == start {
                Some(first)
            } else {
                items.get(from).copied()
            };
            if let (Some(place), Some(item)) = (items.get_mut(to), item) {
                *place = item;
            }
            if from == start {
                break;
            }
            to = from;
        }
    }
}

/// Where the nodes of a tree stand from side to side, as parts of the whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// Left edge of each node.
    pub start: Vec<f64>,
    /// Width of each node.
    pub width: Vec<f64>,
}

/// Lays a tree out.
pub fn layout(tree: &Tree, scale: Scale) -> Layout {
    let width: Vec<f64> = tree
        .nodes
        .iter()
        .map(|n| tree.width(n.total, scale))
        .collect();
    let mut start = vec![0.0; width.len()];
    // Where the next child of each node begins.
    let mut next = vec![0.0; width.len()];
    for (at, node) in tree.nodes.iter().enumerate().skip(1) {
        let (parent, wide) = (node.parent as usize, width.get(at).copied().unwrap_or(0.0));
        let Some(from) = next.get_mut(parent) else {
            continue;
        };
        let left = *from;
        *from += wide;
        if let (Some(start), Some(next)) = (start.get_mut(at), next.get_mut(at)) {
            *start = left;
            *next = left;
        }
    }
    Layout { start, width }
}
