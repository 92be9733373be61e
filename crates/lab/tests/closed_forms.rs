//! Controllers against formulas and findings of the literature, none of which depends on this simulator.
//!
//! `make closed-forms` runs all of it and prints each figure beside its formula; an ordinary test run takes a share. What is compared,
//! and how far apart it is, stands in `docs/models/validation.md`.

mod bench;
mod cubic;
mod reno;
mod shares;
mod vegas;
