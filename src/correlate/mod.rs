//! Findings and the entity graph → hypotheses.
