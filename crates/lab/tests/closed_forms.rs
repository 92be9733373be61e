//! Controllers compared with formulas and findings of the literature, which do not depend on this
//! simulator.
//!
//! `make closed-forms` runs all of them and prints each figure beside its formula; an ordinary test
//! run runs a part. The comparisons and their deviations are listed in `docs/models/validation.md`.

mod bench;
mod cubic;
mod reno;
mod shares;
mod vegas;
