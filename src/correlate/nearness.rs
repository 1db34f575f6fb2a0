//! Where and when a finding must be to have to do with a match.

use crate::base::time::{NANOS_PER_SEC, TimeRange};
use crate::correlate::matching::{CHANGE_SLACK_NANOS, Match};
use crate::correlate::signature::{Clause, Near, When};
use crate::model::entity::EntityType;
use crate::model::finding::Finding;

/// Times of two inputs that differ by less than this, or by a tenth of the anchor's length, are taken as together.
const SLACK_NANOS: i64 = 30 * NANOS_PER_SEC;
/// Edges of findings are known to about this much.
const EDGE_NANOS: i64 = 2 * NANOS_PER_SEC;
/// Steps in the entity graph within which something is the same thing or a part of it.
const SAME_STEPS: usize = 1;
/// Steps within which something is related: a process of its workload, its caller or callee.
const RELATED_STEPS: usize = 3;
/// What begins this long after a change can still be its doing, as a share of the window; at least two minutes.
const FOLLOW_SHARE: f64 = 0.05;

impl<'a> Match<'a> {
    /// What of a pool, anchors aside, is near enough and at the right time.
    pub(super) fn matching(&self, clause: &Clause, pool: &[&'a Finding]) -> Vec<&'a Finding> {
        pool.iter()
            .copied()
            .filter(|f| self.is_timely(clause.when, f) && !self.anchor_ids.contains(f.id.as_str()))
            .filter(|f| self.is_near(clause.near, f))
            .collect()
    }

    /// Whether each anchor begins just after a change.
    pub(super) fn was_planned(&self) -> bool {
        self.anchors.iter().all(|anchor| {
            self.scene.changes.iter().any(|change| {
                let since = anchor.start.nanos_since(change.finding.start);
                (-CHANGE_SLACK_NANOS..=SLACK_NANOS).contains(&since)
            })
        })
    }

    /// Whether a finding had ended before the cause began.
    pub(super) fn was_over(&self, finding: &Finding) -> bool {
        let begin = self.interval.start.plus_nanos(-EDGE_NANOS);
        finding
            .end
            .is_some_and(|end| end.max(finding.onset) < begin)
    }

    pub(super) fn slack_nanos(&self) -> i64 {
        SLACK_NANOS.max(self.interval.nanos() / 10)
    }

    pub(super) fn is_timely(&self, when: When, finding: &Finding) -> bool {
        let begins = finding.onset.min(finding.start);
        let ends = finding
            .end
            .unwrap_or(self.scene.context.window.end)
            .max(begins);
        let slack = self.slack_nanos();
        match when {
            When::Any => true,
            When::Together => {
                begins <= self.interval.end.plus_nanos(slack)
                    && ends >= self.interval.start.plus_nanos(-slack)
            }
            When::After => {
                let limit = if self.is_about_a_change() {
                    follow_nanos(self.scene.context.window)
                } else {
                    i64::MAX
                };
                let since = finding.onset.nanos_since(self.interval.start);
                since >= -CHANGE_SLACK_NANOS && since <= limit
            }
            When::Before => finding.onset < self.interval.start,
        }
    }

    /// Whether a finding is about what the anchors are about, or something near it.
    pub(super) fn is_near(&self, near: Near, finding: &Finding) -> bool {
        let starts = || self.anchors.iter().filter_map(|f| f.entities.first());
        // What names nobody cannot be called far.
        if near == Near::Any || finding.entities.is_empty() || starts().next().is_none() {
            return true;
        }
        let graph = &self.scene.context.snapshot.graph;
        let starts = || starts().map(String::as_str);
        if near == Near::Same {
            // Only the most specific entity: the next one is often the job, which all its instances share.
            let is_own = |kind| !matches!(kind, EntityType::Job | EntityType::Node);
            let reach = self
                .same
                .get_or_init(|| graph.steps_from(starts(), SAME_STEPS, is_own));
            return finding
                .entities
                .first()
                .is_some_and(|id| reach.contains_key(id.as_str()));
        }
        let reach = self
            .related
            .get_or_init(|| graph.steps_from(starts(), RELATED_STEPS, |_| true));
        finding
            .entities
            .iter()
            .take(2)
            .any(|id| reach.contains_key(id.as_str()))
    }
}

/// How long after a change something can still be its doing.
pub(super) fn follow_nanos(window: TimeRange) -> i64 {
    (120 * NANOS_PER_SEC).max((window.nanos() as f64 * FOLLOW_SHARE) as i64)
}
