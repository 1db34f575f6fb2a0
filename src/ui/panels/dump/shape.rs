//! Which frames of a tree are drawn, and where: only those that are on screen and wide enough to be seen.

use crate::store::stacks::tree::{Layout, Tree};

/// A frame narrower than this many points is drawn together with its neighbours.
const SEEN: f32 = 0.5;

/// One rectangle of the flame graph, in points from the left edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bar {
    /// Its node, or `None` where it stands for several that are too narrow.
    pub(super) node: Option<usize>,
    /// Rows below the top of the picture.
    pub(super) row: u32,
    /// Left edge.
    pub(super) left: f32,
    /// Right edge.
    pub(super) right: f32,
}

/// The rectangles of the subtree of `zoom` in a picture `width` points wide, as far as they are in the rows `from..to`.
pub(super) fn bars(
    tree: &Tree,
    layout: &Layout,
    zoom: usize,
    width: f32,
    (from, to): (u32, u32),
) -> Vec<Bar> {
    let mut bars = Vec::new();
    let Some(top) = tree.nodes.get(zoom) else {
        return bars;
    };
    let at = |values: &[f64], node: usize| values.get(node).copied().unwrap_or(0.0);
    let (origin, whole) = (at(&layout.start, zoom), at(&layout.width, zoom));
    if whole <= 0.0 {
        return bars;
    }
    let scale = f64::from(width) / whole;
    let mut narrow: Option<Bar> = None;
    let mut node = zoom;
    while node < top.end as usize {
        let Some(this) = tree.nodes.get(node) else {
            break;
        };
        let row = this.depth - top.depth;
        let left = ((at(&layout.start, node) - origin) * scale) as f32;
        let right = left + (at(&layout.width, node) * scale) as f32;
        let is_narrow = right - left < SEEN;
        if is_narrow {
            if (from..to).contains(&row) {
                merge(&mut bars, &mut narrow, row, left, right);
            }
            node = this.end as usize;
            continue;
        }
        if (from..to).contains(&row) {
            bars.push(Bar {
                node: Some(node),
                row,
                left,
                right,
            });
        }
        // What lies below the last row is not looked at.
        node = if row + 1 >= to {
            this.end as usize
        } else {
            node + 1
        };
    }
    bars.extend(narrow.filter(|n| n.right - n.left >= SEEN));
    bars
}

/// Puts a narrow frame to the ones before it, when it touches them.
fn merge(bars: &mut Vec<Bar>, narrow: &mut Option<Bar>, row: u32, left: f32, right: f32) {
    match narrow {
        Some(run) if run.row == row && left - run.right < SEEN => run.right = right,
        _ => {
            bars.extend(narrow.take().filter(|n| n.right - n.left >= SEEN));
            *narrow = Some(Bar {
                node: None,
                row,
                left,
                right,
            });
        }
    }
}

/// Where an arrow key leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// To the frame above.
    Up,
    /// To the largest frame below.
    Down,
    /// To the frame before it on its row.
    Left,
    /// To the frame behind it on its row.
    Right,
}

/// The frame that a step leads to, inside the subtree of `zoom`; the same where there is none.
pub(super) fn step(tree: &Tree, zoom: usize, node: usize, step: Step) -> usize {
    let Some(this) = tree.nodes.get(node) else {
        return zoom;
    };
    let same_row = |n: &usize| tree.nodes.get(*n).is_some_and(|x| x.depth == this.depth);
    let end = tree.nodes.get(zoom).map_or(0, |z| z.end as usize);
    match step {
        Step::Up if node == zoom => node,
        Step::Up => this.parent as usize,
        Step::Down => tree.children(node).next().unwrap_or(node),
        Step::Left => (zoom..node).rev().find(same_row).unwrap_or(node),
        Step::Right => (this.end as usize..end).find(same_row).unwrap_or(node),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::input::InputIx;
    use crate::model::profile::{Frame, Profile, StackGroup, WaitClass};
    use crate::store::stacks::tree::{Scale, layout, tree};

    fn profile(stacks: &[(&str, f64)]) -> Profile {
        let none: Arc<str> = Arc::from("");
        let groups = stacks.iter().map(|(folded, value)| StackGroup {
            line: 1,
            value: *value,
            class: WaitClass::Other,
            state: Arc::clone(&none),
            wait_s: None,
            frames: folded
                .split(';')
                .rev()
                .map(|f| Frame {
                    function: Arc::from(f),
                    file: Arc::clone(&none),
                    line: 0,
                })
                .collect(),
            lock: None,
            lock_owner: None,
            pointers: Vec::new(),
            created_by: Arc::clone(&none),
            labels: Arc::clone(&none),
            first_id: None,
        });
        Profile {
            input: InputIx(0),
            t: None,
            t_source: "",
            kind: Arc::from("cpu"),
            unit: Arc::from("count"),
            total: stacks.iter().map(|s| s.1).sum(),
            process: Arc::from("p"),
            has_states: false,
            groups: groups.collect(),
        }
    }

    #[test]
    fn frames_stand_inside_their_callers_and_narrow_ones_together() {
        let mut stacks = vec![("main;big;deep".to_owned(), 900.0)];
        stacks.extend((0..100).map(|n| (format!("main;small{n:03}"), 1.0)));
        let stacks: Vec<(&str, f64)> = stacks.iter().map(|(s, v)| (s.as_str(), *v)).collect();
        let tree = tree(&profile(&stacks), None, &|| false).unwrap();
        let layout = layout(&tree, Scale::Share);
        let bars = bars(&tree, &layout, 0, 100.0, (0, 10));
        let told: Vec<(Option<&str>, u32, i32, i32)> = bars
            .iter()
            .map(|b| {
                let name = b.node.map(|n| tree.name(n));
                (name, b.row, b.left.round() as i32, b.right.round() as i32)
            })
            .collect();
        assert_eq!(
            told,
            [
                (Some(""), 0, 0, 100),
                (Some("main"), 1, 0, 100),
                (Some("big"), 2, 0, 90),
                (Some("deep"), 3, 0, 90),
                (None, 2, 90, 100),
            ]
        );
    }

    #[test]
    fn a_zoomed_frame_takes_the_whole_width_and_hidden_rows_are_left_out() {
        let tree = tree(&profile(&[("a;b", 1.0), ("c;d;e", 3.0)]), None, &|| false).unwrap();
        let layout = layout(&tree, Scale::Share);
        let c = (0..tree.nodes.len())
            .find(|n| tree.name(*n) == "c")
            .unwrap();
        let all = bars(&tree, &layout, c, 80.0, (1, 2));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].node.map(|n| tree.name(n)), Some("d"));
        assert_eq!((all[0].left, all[0].right), (0.0, 80.0));
    }

    #[test]
    fn keys_walk_the_tree() {
        let tree = tree(
            &profile(&[("a;b", 1.0), ("c;d", 3.0), ("c;e", 2.0)]),
            None,
            &|| false,
        )
        .unwrap();
        let named = |name: &str| {
            (0..tree.nodes.len())
                .find(|n| tree.name(*n) == name)
                .unwrap()
        };
        for (from, way, to) in [
            ("", Step::Down, "c"),
            ("c", Step::Down, "d"),
            ("d", Step::Right, "e"),
            ("e", Step::Right, "b"),
            ("b", Step::Left, "e"),
            ("b", Step::Up, "a"),
            ("d", Step::Left, "d"),
            ("d", Step::Down, "d"),
            ("", Step::Up, ""),
        ] {
            assert_eq!(
                step(&tree, 0, named(from), way),
                named(to),
                "{from} {way:?}"
            );
        }
        let c = named("c");
        assert_eq!(step(&tree, c, named("e"), Step::Right), named("e"));
        assert_eq!(step(&tree, c, c, Step::Up), c);
    }
}
