//! 802.11g: ERP-OFDM (clause 18), which is OFDM at 2.4 GHz.

use super::{Generation, a};
use crate::phy::Band;

pub(super) const GENERATION: Generation = Generation { bands: &[Band::Ghz2], ..a::GENERATION };
