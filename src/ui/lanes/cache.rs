//! What lanes derive from the rows of a document and keep as long as it: made once by the first worker who needs it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use crate::session::incident::Incident;
use crate::store::Snapshot;
use crate::ui::lanes::cloud::Cloud;
use crate::ui::lanes::metric::curve::Curve;
use crate::ui::lanes::plan::Plan;
use crate::ui::lanes::quantiles::Source;
use crate::ui::lanes::select::{self, Index};

/// Derived columns of one document.
#[derive(Debug)]
pub(super) struct Cache {
    curves: Vec<OnceLock<Arc<Curve>>>,
    index: OnceLock<Index>,
    clouds: Mutex<BTreeMap<String, Arc<Cloud>>>,
    sources: OnceLock<Vec<Source>>,
    /// The lanes to open with, for one generation of the report.
    plan: Mutex<Option<(u64, Arc<Plan>)>>,
}

/// The cache of what is open.
pub(super) fn of(incident: &Incident) -> Arc<Cache> {
    let series = incident.snapshot().series.len();
    incident.document.shared.get_or_make(|| Cache::new(series))
}

impl Cache {
    fn new(series: usize) -> Self {
        Self {
            curves: std::iter::repeat_with(OnceLock::new).take(series).collect(),
            index: OnceLock::new(),
            clouds: Mutex::default(),
            sources: OnceLock::new(),
            plan: Mutex::default(),
        }
    }

    /// A series as it is drawn.
    pub(super) fn curve(&self, snapshot: &Snapshot, ix: usize) -> Option<Arc<Curve>> {
        let series = snapshot.series.get(ix)?;
        let cell = self.curves.get(ix)?;
        Some(Arc::clone(cell.get_or_init(|| Arc::new(Curve::of(series)))))
    }

    /// Selector → series.
    pub(super) fn index(&self, snapshot: &Snapshot) -> &Index {
        self.index.get_or_init(|| select::index(snapshot))
    }

    /// What quantiles can be made of.
    pub(super) fn sources(&self, make: impl FnOnce() -> Vec<Source>) -> &[Source] {
        self.sources.get_or_init(make)
    }

    /// The dots of that key. Two workers may make them at once; one of them is kept.
    pub(super) fn cloud(&self, key: &str, make: impl FnOnce() -> Cloud) -> Arc<Cloud> {
        let known = self.clouds.lock().ok().and_then(|c| c.get(key).cloned());
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            match self.clouds.lock() {
                Ok(mut clouds) => Arc::clone(clouds.entry(key.to_owned()).or_insert(made)),
                Err(_) => made,
            }
        })
    }

    /// The lanes to open with. Whoever asks while they are made waits for them, which is shorter than making them twice.
    pub(super) fn plan(&self, generation: u64, make: impl FnOnce() -> Plan) -> Arc<Plan> {
        let Ok(mut kept) = self.plan.lock() else {
            return Arc::new(make());
        };
        match kept.as_ref() {
            Some((known, plan)) if *known == generation => Arc::clone(plan),
            _ => {
                let plan = Arc::new(make());
                *kept = Some((generation, Arc::clone(&plan)));
                plan
            }
        }
    }
}
