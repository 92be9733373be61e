//! Compares controllers with formulas and findings of the literature, which do not depend on this
//! simulator.
//!
//! `make closed-forms` runs all comparisons and prints each figure beside its formula. An ordinary
//! test run runs a part. `docs/models/validation.md` lists the comparisons and their deviations.

mod bench;
mod cubic;
mod reno;
mod shares;
mod vegas;
