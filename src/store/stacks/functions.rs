//! Functions of a tree, wherever in it they are: what they take themselves, what they take with all that they call, who calls
//! them and whom they call. A function that calls itself is counted once.

use std::collections::BTreeMap;

use crate::store::stacks::tree::Tree;

/// One function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Function {
    /// Its name, an index into the tree's names.
    pub name: u32,
    /// The value of the stacks that end in it.
    pub own: [f64; 2],
    /// The value of the stacks that it is in, each counted once.
    pub total: [f64; 2],
}

fn add(to: &mut [f64; 2], value: [f64; 2]) {
    to[0] += value[0];
    to[1] += value[1];
}

/// Every function of a tree, by name; the root is left out.
pub fn functions(tree: &Tree) -> Vec<Function> {
    let mut found: Vec<Function> = (0..tree.names.len() as u32)
        .map(|name| Function {
            name,
            own: [0.0; 2],
            total: [0.0; 2],
        })
        .collect();
    // Behind the subtree of the outermost node of each function that is open.
    let mut open_until = vec![0_u32; tree.names.len()];
    for (at, node) in tree.nodes.iter().enumerate().skip(1) {
        let name = node.name as usize;
        let (Some(function), Some(until)) = (found.get_mut(name), open_until.get_mut(name)) else {
            continue;
        };
        add(&mut function.own, node.own);
        if at as u32 >= *until {
            add(&mut function.total, node.total);
            *until = node.end;
        }
    }
    if !found.is_empty() {
        found.remove(0);
    }
    found
}

/// Who calls a function, or whom it calls, with the value of the stacks that do.
pub type Neighbours = Vec<(u32, [f64; 2])>;

/// Callers and callees of a function, the largest first. The root (0) calls the functions that stacks begin with.
pub fn neighbours(tree: &Tree, name: u32) -> (Neighbours, Neighbours) {
    let mut callers = Edges::default();
    let mut callees = Edges::default();
    for (at, node) in tree.nodes.iter().enumerate().skip(1) {
        let parent = tree.nodes.get(node.parent as usize).map_or(0, |p| p.name);
        if node.name == name {
            callers.add(parent, at, node.end, node.total);
        }
        if parent == name && node.parent != 0 {
            callees.add(node.name, at, node.end, node.total);
        }
    }
    (callers.sorted(), callees.sorted())
}

/// Calls from or to other functions; each stack counts once for each of them.
#[derive(Default)]
struct Edges(BTreeMap<u32, (u32, [f64; 2])>);

impl Edges {
    fn add(&mut self, other: u32, at: usize, end: u32, total: [f64; 2]) {
        let (until, sum) = self.0.entry(other).or_default();
        if at as u32 >= *until {
            add(sum, total);
            *until = end;
        }
    }

    fn sorted(self) -> Neighbours {
        let mut all: Neighbours = self.0.into_iter().map(|(n, (_, sum))| (n, sum)).collect();
        all.sort_by(|a, b| {
            let sum = |v: &[f64; 2]| v[0] + v[1];
            sum(&b.1).total_cmp(&sum(&a.1)).then(a.0.cmp(&b.0))
        });
        all
    }
}

/// Which functions hold the text, whatever its case; as long as the tree's names.
pub fn matching(tree: &Tree, text: &str) -> Vec<bool> {
    let text = text.to_lowercase();
    tree.names
        .iter()
        .map(|name| !text.is_empty() && name.to_lowercase().contains(&text))
        .collect()
}

/// The value of the stacks that hold any of the marked functions, each counted once.
pub fn matched(tree: &Tree, is_marked: &[bool]) -> [f64; 2] {
    let mut sum = [0.0; 2];
    let mut at = 1;
    while let Some(node) = tree.nodes.get(at) {
        if is_marked.get(node.name as usize).copied().unwrap_or(false) {
            add(&mut sum, node.total);
            at = node.end as usize;
        } else {
            at += 1;
        }
    }
    sum
}
