//! Controllers against formulas and findings of the literature, none of which depends on this simulator.
//!
//! `make closed-forms` runs all of it and prints each figure beside its formula; an ordinary test run takes a share. What is compared,
//! and how far apart it is, stands in `docs/models/validation.md`.

#[path = "common/tables.rs"]
mod tables;

#[path = "closed_forms/bench.rs"]
mod bench;
#[path = "closed_forms/cubic.rs"]
mod cubic;
#[path = "closed_forms/reno.rs"]
mod reno;
#[path = "closed_forms/shares.rs"]
mod shares;
#[path = "closed_forms/vegas.rs"]
mod vegas;
