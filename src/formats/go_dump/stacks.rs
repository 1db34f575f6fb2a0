//! A tree of the lines of stacks, leaf first: equal stacks end at the same node, so that a goroutine is one number.
//!
//! Dumps repeat a few stacks thousands of times. Each node remembers the child that was taken last; a line that goes the
//! same way again costs one comparison of bytes and no search. Searches use a B-tree, whose time hostile input cannot
//! blow up.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wait;
use crate::model::profile::{Frame, Frames};

/// A node of the tree.
pub(super) type NodeIx = usize;

/// The node above all leaves.
pub(super) const ROOT: NodeIx = 0;

/// What a line of a stack holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The name of a function that was called.
    Function,
    /// Its `file:line`.
    Place,
    /// The function that started the goroutine.
    Creator,
    /// Frames were left out here.
    Elided,
}

#[derive(Debug)]
struct Node<'a> {
    parent: NodeIx,
    kind: Kind,
    text: &'a [u8],
    last_child: NodeIx,
    role: Role,
}

/// What a function is to locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It takes a lock, whose address is its first argument.
    TakesLock,
    /// It belongs to the lock library otherwise.
    LockLibrary,
    /// Anything else.
    Other,
}

impl Role {
    fn of(kind: Kind, text: &[u8]) -> Self {
        if kind != Kind::Function {
            return Self::Other;
        }
        if wait::takes_lock(&normal_name(text)) {
            Self::TakesLock
        } else if text.starts_with(b"sync.") || text.starts_with(b"internal/sync.") {
            Self::LockLibrary
        } else {
            Self::Other
        }
    }
}

/// The tree.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    nodes: Vec<Node<'a>>,
    children: BTreeMap<(NodeIx, Kind, &'a [u8]), NodeIx>,
}

impl<'a> Stacks<'a> {
    /// Only the root.
    pub(super) fn new() -> Self {
        let root = Node {
            parent: ROOT,
            kind: Kind::Elided,
            text: b"",
            last_child: ROOT,
            role: Role::Other,
        };
        Self {
            nodes: vec![root],
            children: BTreeMap::new(),
        }
    }

    /// The text of the child of `at` that was taken last, when it is of this kind.
    pub(super) fn guess(&self, at: NodeIx, kind: Kind) -> Option<(NodeIx, &'a [u8])> {
        let child = self.nodes.get(at)?.last_child;
        let node = self.nodes.get(child)?;
        (child != ROOT && node.kind == kind).then_some((child, node.text))
    }

    /// The child of `at` with this text, made when it is new.
    pub(super) fn child(&mut self, at: NodeIx, kind: Kind, text: &'a [u8]) -> NodeIx {
        let next = self.nodes.len();
        let child = *self.children.entry((at, kind, text)).or_insert(next);
        if child == next {
            self.nodes.push(Node {
                parent: at,
                kind,
                text,
                last_child: ROOT,
                role: Role::of(kind, text),
            });
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.last_child = child;
        }
        child
    }

    /// What a node is.
    pub(super) fn kind(&self, at: NodeIx) -> Option<Kind> {
        (at != ROOT).then(|| self.nodes.get(at).map(|n| n.kind))?
    }

    /// What the function at a node is to locks.
    pub(super) fn role(&self, at: NodeIx) -> Role {
        self.nodes.get(at).map_or(Role::Other, |n| n.role)
    }

    /// The stack that ends at a node: frames leaf first, the function that started it, and whether frames were elided.
    pub(super) fn stack(&self, end: NodeIx, names: &mut Names<'a>) -> Stack {
        let mut path = Vec::new();
        let mut at = end;
        while at != ROOT {
            let Some(node) = self.nodes.get(at) else {
                break;
            };
            path.push(node);
            at = node.parent;
        }
        let mut frames: Vec<Frame> = Vec::with_capacity(path.len() / 2);
        let mut stack = Stack {
            frames: Frames::default(),
            created_by: names.none(),
            has_elided: false,
        };
        let mut is_creator = false;
        for node in path.into_iter().rev() {
            match node.kind {
                Kind::Function => {
                    is_creator = false;
                    frames.push(Frame {
                        function: names.function(node.text),
                        file: names.none(),
                        line: 0,
                    });
                }
                Kind::Place => {
                    if let (false, Some(frame)) = (is_creator, frames.last_mut()) {
                        (frame.file, frame.line) = names.place(node.text);
                    }
                }
                Kind::Creator => {
                    is_creator = true;
                    stack.created_by = names.function(node.text);
                }
                Kind::Elided => stack.has_elided = true,
            }
        }
        stack.frames = Frames::from(frames);
        stack
    }
}

/// One stack as the model has it.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    /// Leaf first.
    pub(super) frames: Frames,
    /// Who started the goroutine, or empty.
    pub(super) created_by: Arc<str>,
    /// Whether the dump left frames out.
    pub(super) has_elided: bool,
}

/// Names that are shared between frames.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    known: BTreeMap<&'a [u8], Arc<str>>,
    none: Option<Arc<str>>,
}

impl<'a> Names<'a> {
    /// The empty name.
    pub(super) fn none(&mut self) -> Arc<str> {
        Arc::clone(self.none.get_or_insert_with(|| Arc::from("")))
    }

    /// A text as it stands.
    pub(super) fn text(&mut self, text: &'a [u8]) -> Arc<str> {
        let name = self
            .known
            .entry(text)
            .or_insert_with(|| Arc::from(String::from_utf8_lossy(text).as_ref()));
        Arc::clone(name)
    }

    /// The name of a function.
    pub(super) fn function(&mut self, text: &'a [u8]) -> Arc<str> {
        let name = self
            .known
            .entry(text)
            .or_insert_with(|| Arc::from(normal_name(text).as_str()));
        Arc::clone(name)
    }

    /// `file:line`; the line is 0 when there is none.
    pub(super) fn place(&mut self, text: &'a [u8]) -> (Arc<str>, u32) {
        let Some(colon) = memchr::memrchr(b':', text) else {
            return (self.text(text), 0);
        };
        let line = text
            .get(colon + 1..)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.parse().ok());
        match (text.get(..colon), line) {
            (Some(file), Some(line)) => (self.text(file), line),
            _ => (self.text(text), 0),
        }
    }
}

/// A function's name with the stars back that Markdown ate: `sync.(_RWMutex).RLock` (`profiles.md` §5).
fn normal_name(text: &[u8]) -> String {
    let name = String::from_utf8_lossy(text);
    if name.contains(".(_") {
        name.replace(".(_", ".(*")
    } else {
        name.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_end_at_one_node() {
        let mut stacks = Stacks::new();
        let mut walk = |line: &'static [u8]| {
            let f = stacks.child(ROOT, Kind::Function, b"sync.(_Mutex).lockSlow");
            assert_eq!(stacks.role(f), Role::TakesLock);
            stacks.child(f, Kind::Place, line)
        };
        let (a, b, c) = (walk(b"/m.go:1"), walk(b"/m.go:2"), walk(b"/m.go:1"));
        assert_eq!((a, a == b), (c, false));
        let stack = stacks.stack(b, &mut Names::default());
        assert_eq!(stack.frames[0].function.as_ref(), "sync.(*Mutex).lockSlow");
        assert_eq!(
            (stack.frames[0].file.as_ref(), stack.frames[0].line),
            ("/m.go", 2)
        );
    }
}
