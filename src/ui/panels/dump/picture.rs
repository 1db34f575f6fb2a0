//! The tree of what is open, with its layout and functions, made beside the window.

use std::sync::Arc;

use egui::Ui;

use crate::engine::memo::{Answer, Memo};
use crate::session::incident::Incident;
use crate::store::stacks::functions::{Function, functions};
use crate::store::stacks::tree::{Layout, Scale, Tree, layout, tree};
use crate::ui::frame::Frame;
use crate::ui::panels::dump::{Open, empty};

/// A tree and what is made of it once. All of it is of one moment, whatever else is on its way.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) open: Open,
    pub(super) unit: Arc<str>,
    pub(super) tree: Tree,
    shares: Layout,
    /// By values; of one profile alone it is the same as by shares.
    absolute: Option<Layout>,
    pub(super) functions: Vec<Function>,
}

impl Picture {
    /// Where nodes stand on a scale.
    pub(super) fn layout(&self, scale: Scale) -> &Layout {
        let absolute = self.absolute.as_ref();
        absolute
            .filter(|_| scale == Scale::Absolute)
            .unwrap_or(&self.shares)
    }
}

/// The last picture.
#[derive(Debug, Default)]
pub(super) struct PictureView {
    made: Memo<Open, Arc<Picture>>,
}

impl PictureView {
    /// The picture of what is open, when it is there; else says so.
    pub(super) fn want(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        incident: &Incident,
        open: Open,
    ) -> Option<Arc<Picture>> {
        let document = Arc::clone(&incident.document);
        let answer = self.made.want(frame.pool, &open, move |cancel| {
            let profiles = &document.snapshot.profiles;
            let a = profiles.get(open.a).ok_or("no such profile")?;
            let b = open.b.and_then(|b| profiles.get(b));
            let tree = tree(a, b, &|| cancel.is_cancelled()).ok_or("nobody waits for it")?;
            Ok(Arc::new(Picture {
                open,
                unit: Arc::clone(&a.unit),
                shares: layout(&tree, Scale::Share),
                absolute: b.is_some().then(|| layout(&tree, Scale::Absolute)),
                functions: functions(&tree),
                tree,
            }))
        });
        match answer {
            Answer::Ready(picture) | Answer::Stale(picture) => Some(Arc::clone(picture)),
            Answer::Pending => {
                empty::waiting(ui, frame, None);
                None
            }
            Answer::Failed(why) => {
                empty::waiting(ui, frame, Some(why));
                None
            }
        }
    }
}
