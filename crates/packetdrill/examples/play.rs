//! Runs scripts without Python:
//!
//! ```sh
//! cargo run -p acklab-packetdrill --example play -- \
//!     [--preset NAME] [--tolerance_usecs=N] SCRIPT|FOLDER…
//! ```
#![expect(clippy::disallowed_methods, reason = "an example reads files")]

use acklab_base::random::Seed;
use acklab_packetdrill::{Machine, Verdict, grammar, play};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{Preset, Settings, TcpConfig};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut scripts = Vec::new();
    let mut settings = Settings::of(Preset::Linux);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--preset" => {
                settings = Settings::of(match arguments.next().as_deref() {
                    Some("rfc") => Preset::Rfc,
                    Some("ns3") => Preset::Ns3,
                    _ => Preset::Linux,
                });
            }
            path => collect(Path::new(path), &mut scripts),
        }
    }
    scripts.sort();
    let mut counts = [0; 4];
    for path in &scripts {
        let verdict = verdict(path, &settings);
        let index = match &verdict {
            Verdict::Passed => 0,
            Verdict::Failed(_) => 1,
            Verdict::OutOfScope(_) => 2,
            Verdict::Malformed(_) => 3,
        };
        counts[index] += 1;
        let detail = match &verdict {
            Verdict::Passed => String::new(),
            Verdict::Failed(failures) => failures.iter().map(|failure| format!("\n    {failure}")).collect(),
            Verdict::OutOfScope(refusal) | Verdict::Malformed(refusal) => format!("\n    {refusal}"),
        };
        println!("{:<12} {}{detail}", verdict.name(), path.display());
    }
    let [passed, failed, outside, malformed] = counts;
    println!("{passed} of {} in scope pass; {outside} out of scope, {malformed} malformed", passed + failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn collect(path: &Path, scripts: &mut Vec<PathBuf>) {
    if let Ok(folder) = fs::read_dir(path) {
        folder.flatten().for_each(|entry| collect(&entry.path(), scripts));
    } else if path.extension().is_some_and(|extension| extension == "pkt") {
        scripts.push(path.to_owned());
    }
}

fn verdict(path: &Path, settings: &Settings) -> Verdict {
    let folder = path.parent().unwrap_or(Path::new("."));
    let include = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    match grammar::read(&text, &include) {
        Ok(script) => {
            let strategy = |config: &TcpConfig| {
                let controller = Controller::new(&config.congestion, &config.controller_start(Seed(1), "script"));
                let policy = Policy::new(config.ack);
                controller.zip(policy).ok_or_else(|| "a strategy that is not built in".to_owned())
            };
            play(&script, &mut Machine::new(settings, &strategy, &script))
        }
        Err(refusal) => refusal.into(),
    }
}
