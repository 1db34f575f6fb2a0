//! What stands around the panels: the bar on top, the status line, the head of the drawer, what the person is told.

mod bar;
mod drawer;
mod menu;
mod status;
mod told;

pub use bar::Bar;
pub use drawer::head as drawer_head;
pub use status::{Status, ui as status};
pub use told::ui as told;
