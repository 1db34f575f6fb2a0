//! The document: inputs and what was made of them.
