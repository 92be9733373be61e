//! The commands, each with the namespace of its node.

use super::super::EmulateOptions;
use super::super::command::{self, Job};
use super::Stage;
use crate::error::Error;
use crate::scenario::Scenario;
use acklab_base::Instant;
use std::path::PathBuf;

impl Stage {
    /// Returns the commands of the scenario and of the caller.
    pub(in super::super) fn jobs(&self, scenario: &Scenario, options: &EmulateOptions) -> Result<Vec<Job>, Error> {
        let mut jobs = Vec::new();
        for (application, name) in scenario.application.iter().zip(scenario.application_names()) {
            let shell =
                ["/bin/sh".to_owned(), "-c".to_owned(), command::with_addresses(&application.command, &self.nodes)];
            let environment = application.environment.iter().filter_map(|variable| variable.split_once('='));
            let output = options.outputs.as_ref().map(|folder| folder.join(format!("{name}.out")));
            jobs.push(Job {
                node: application.node.clone(),
                namespace: self.namespace_of(&application.node)?,
                words: shell.to_vec(),
                directory: application.directory.as_ref().map(PathBuf::from),
                environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
                start: Instant::ZERO + application.start,
                stop: application.stop.map(|stop| Instant::ZERO + stop),
                output,
                is_foreground: false,
                name,
            });
        }
        if let Some(foreground) = &options.foreground {
            let words = foreground.words.iter().map(|word| command::with_addresses(word, &self.nodes)).collect();
            jobs.push(Job {
                name: "foreground".to_owned(),
                node: foreground.node.clone(),
                namespace: self.namespace_of(&foreground.node)?,
                words,
                directory: None,
                environment: Vec::new(),
                start: Instant::ZERO,
                stop: None,
                output: None,
                is_foreground: true,
            });
        }
        Ok(jobs)
    }
}
