//! Checks Wi-Fi cells.

use super::{above_zero, links, name, not_too_long};
use crate::packet::Packet;
use crate::scenario::Scenario;
use crate::scenario::refuse::Problem;
use acklab_base::random::Seed;
use acklab_wifi::access::{Category, Overrides};
use acklab_wifi::config::{Access, Dialect};
use acklab_wifi::{Cell, CellConfig};
use std::collections::BTreeSet;

/// The maximum number of stations of a cell: the maximum association identifier (IEEE 802.11,
/// 9.4.1.8).
const MAX_STATIONS: usize = 2007;

pub(super) fn validate(scenario: &Scenario) -> Result<(), Problem> {
    let mut names: BTreeSet<&str> = scenario.link.iter().map(|link| link.name.as_str()).collect();
    let mut stations = BTreeSet::new();
    for (index, cell) in scenario.wifi.iter().enumerate() {
        let at = |key: &str| format!("wifi.{index}.{key}");
        name(&at("name"), &cell.name)?;
        if !names.insert(&cell.name) {
            return Err(Problem::at(at("name"), "a unique name; another link or cell has this one"));
        }
        name(&at("ap.name"), &cell.ap.name)?;
        if cell.station.is_empty() {
            return Err(Problem::at(at("station"), "at least one station"));
        }
        for (index, station) in cell.station.iter().enumerate() {
            let at = |key: &str| at(&format!("station.{index}.{key}"));
            name(&at("name"), &station.name)?;
            if station.count == 0 {
                return Err(Problem::at(at("count"), "at least one station"));
            }
            for node in station.names() {
                if node == cell.ap.name || !stations.insert(node.clone()) {
                    let expected = format!("a unique name; another node of a cell is called `{node}`");
                    return Err(Problem::at(at("name"), expected));
                }
            }
            links::limit(&at("queue"), &station.queue)?;
            links::thinner(&at("thinner"), station.thinner.as_ref())?;
            links::unshaped(&at("queue"), &station.queue, "the MAC")?;
            access(&at("access"), &station.access)?;
        }
        if cell.station_names().len() > MAX_STATIONS {
            return Err(Problem::at(at("station"), format!("at most {MAX_STATIONS} stations")));
        }
        links::limit(&at("ap.queue"), &cell.ap.queue)?;
        links::thinner(&at("ap.thinner"), cell.ap.thinner.as_ref())?;
        links::unshaped(&at("ap.queue"), &cell.ap.queue, "the MAC")?;
        access(&at("ap.access"), &cell.ap.access)?;
        access(&at("access"), &cell.access)?;
        settings(&format!("wifi.{index}"), cell)?;
        if cell.hack.is_some() && scenario.ip != 4 {
            return Err(Problem::at(at("hack"), "no `hack` with `ip = 6`: it compresses the ACKs of IPv4"));
        }
    }
    Ok(())
}

/// Returns the stations of all cells, each with its access point.
pub(super) fn stations(scenario: &Scenario) -> Vec<(String, String)> {
    let of_cell = |cell: &CellConfig| {
        let ap = cell.ap.name.clone();
        cell.station_names().into_iter().map(move |station| (station, ap.clone()))
    };
    scenario.wifi.iter().flat_map(of_cell).collect()
}

fn settings(path: &str, cell: &CellConfig) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    if let Some(lifetime) = cell.lifetime {
        above_zero(&at("lifetime"), lifetime)?;
    }
    if let Some(interval) = cell.beacon_interval {
        above_zero(&at("beacon_interval"), interval)?;
    }
    above_zero(&at("aggregation.max_time"), cell.aggregation.max_time)?;
    if !(1..=cell.most_window()).contains(&cell.window()) {
        let expected = format!("a window of 1 to {} frames in {}", cell.most_window(), cell.standard);
        return Err(Problem::at(at("aggregation.window"), expected));
    }
    if let Some(limits) = &cell.standard.generation().aggregation
        && cell.aggregation.a_msdu > limits.a_msdu
    {
        let expected = format!("an A-MSDU of at most {} in {}", limits.a_msdu, cell.standard);
        return Err(Problem::at(at("aggregation.a_msdu"), expected));
    }
    let bands = cell.standard.generation().bands;
    if cell.band.is_some_and(|band| !bands.contains(&band)) {
        let names: Vec<&str> = bands.iter().map(|band| band.name()).collect();
        return Err(Problem::at(at("band"), format!("a band of {}: {}", cell.standard, names.join(" or "))));
    }
    if cell.standard.has_qos() && cell.width() > cell.band().widest() {
        let expected = format!("at most {} in the band of {}", cell.band().widest(), cell.band());
        return Err(Problem::at(at("width"), expected));
    }
    if cell.aggregation.max_frames == Some(0) {
        return Err(Problem::at(at("aggregation.max_frames"), "at least one frame"));
    }
    if !matches!(cell.streams, 1..=4) {
        return Err(Problem::at(at("streams"), "1 to 4 streams"));
    }
    for (key, limit) in [("short", cell.retries.short), ("long", cell.retries.long)] {
        if limit == 0 {
            return Err(Problem::at(at(&format!("retries.{key}")), "at least one transmission"));
        }
    }
    if cell.dialect == Dialect::Ns2 && cell.standard.has_qos() {
        return Err(Problem::at(at("dialect"), "`standard` or `ns3`; ns-2 has no QoS, so `ns2` takes 802.11b, g or a"));
    }
    match Cell::<Packet>::new(cell, Seed(0)) {
        Ok(_) => Ok(()),
        Err(error) => Err(refusal(path, cell, &error)),
    }
}

fn refusal(path: &str, cell: &CellConfig, error: &acklab_wifi::cell::Error) -> Problem {
    use acklab_wifi::cell::Error;
    match error {
        Error::Rate { node, source } => {
            let station = cell.station.iter().position(|station| station.name == *node && station.rate.is_some());
            let key = match station {
                Some(index) => format!("station.{index}.rate"),
                None if cell.ap.name == *node && cell.ap.rate.is_some() => "ap.rate".to_owned(),
                None => "rate".to_owned(),
            };
            Problem::invalid(format!("{path}.{key}"), source.to_string())
        }
        Error::BasicRate => Problem::at(format!("{path}.basic_rates"), "rates of the standard"),
        Error::Reception(fault) => Problem::at(format!("{path}.reception.{}", fault.path), fault.expected.clone()),
    }
}

fn access(path: &str, access: &Access) -> Result<(), Problem> {
    for category in Category::ALL {
        let overrides: &Overrides = access.of(category);
        let at = |key: &str| format!("{path}.{}.{key}", category.name().replace('-', "_"));
        if let (Some(least), Some(most)) = (overrides.cw_min, overrides.cw_max)
            && most < least
        {
            return Err(Problem::at(at("cw_max"), format!("at least `cw_min`, which is {least}")));
        }
        if let (Some(floor), Some(least)) = (overrides.cw_floor, overrides.cw_min)
            && floor > least
        {
            return Err(Problem::at(at("cw_floor"), format!("at most `cw_min`, which is {least}")));
        }
        if overrides.aifsn == Some(0) {
            return Err(Problem::at(at("aifsn"), "at least 1"));
        }
        if let Some(limit) = overrides.txop_limit {
            not_too_long(&at("txop_limit"), limit)?;
        }
    }
    Ok(())
}
