//! The planner for Node.js: a handle that is read once, and answers as the command line prints
//! them, on the event loop or off it. Names and types are in `index.cjs` and `index.d.ts`; nothing
//! is decided on this side.

// The macros of napi make functions that the engine of JavaScript calls by pointer.
#![allow(unsafe_code, missing_docs)]

use std::collections::HashMap;

use dunnage_planner::door::{self, Asked, Refusal, Requests, Said, Text, Verb};
use dunnage_planner::options::StopFlag;
use dunnage_planner::read::{Source, path_beside};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Task};
use napi_derive::napi;

/// A refusal as an error whose message is its JSON.
fn refused(refusal: Refusal) -> Error {
    Error::from_reason(refusal.text())
}

/// A text with the name that errors call it by.
#[napi(object)]
pub struct Named {
    pub name: String,
    pub text: String,
}

fn sources(texts: Vec<Named>) -> Vec<Source> {
    texts.into_iter().map(|Named { name, text }| Source { name, text }).collect()
}

/// Opens a file that a source names, relative to that source.
fn beside(source: &str, path: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path_beside(source, path))
}

fn question(words: &[String], options: &str) -> Result<(Verb, Asked)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let verb = Verb::of(&words).map_err(refused)?;
    Ok((verb, Asked::of_json(options).map_err(refused)?))
}

/// Ends answers that are under way.
#[napi]
#[derive(Default)]
pub struct Stop(StopFlag);

#[napi]
impl Stop {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    #[napi]
    pub fn raise(&self) {
        self.0.raise();
    }
}

/// Work off the event loop.
pub struct Working(Box<dyn FnMut() -> std::result::Result<String, Refusal> + Send>);

impl Task for Working {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        (self.0)().map_err(refused)
    }

    fn resolve(&mut self, _: Env, text: String) -> Result<String> {
        Ok(text)
    }
}

/// An input that was read. It never changes: what-ifs are others.
#[napi]
pub struct World(door::World);

#[napi]
impl World {
    #[napi(factory)]
    pub fn open(texts: Vec<Named>, options: String) -> Result<Self> {
        let asked = Asked::of_json(&options).map_err(refused)?;
        let world = door::World::open(&sources(texts), &asked, Some(&beside));
        world.map(Self).map_err(refused)
    }

    #[napi]
    pub fn answer_sync(&self, words: Vec<String>, options: String) -> Result<String> {
        let (verb, asked) = question(&words, &options)?;
        self.0.answer(&verb, &asked, &StopFlag::default()).map_err(refused)
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn answer(
        &self,
        words: Vec<String>,
        options: String,
        stop: &Stop,
    ) -> Result<AsyncTask<Working>> {
        let (verb, asked) = question(&words, &options)?;
        let (world, stop) = (self.0.clone(), stop.0.clone());
        Ok(AsyncTask::new(Working(Box::new(move || world.answer(&verb, &asked, &stop)))))
    }

    #[napi]
    pub fn with_objects(&self, name: String, text: String) -> Result<Self> {
        self.0.with_objects(&Source { name, text }).map(Self).map_err(refused)
    }

    #[napi]
    pub fn without_pool(&self, name: String) -> Result<Self> {
        self.0.without_pool(&name).map(Self).map_err(refused)
    }

    #[napi]
    pub fn with_workload(&self, name: String, text: String, replicas: Option<u32>) -> Result<Self> {
        self.0.with_workload(&Source { name, text }, replicas).map(Self).map_err(refused)
    }

    #[napi]
    pub fn without_workload(&self, name: String) -> Result<Self> {
        self.0.without_workload(&name).map(Self).map_err(refused)
    }

    #[napi]
    pub fn with_requests(
        &self,
        name: String,
        requests: HashMap<String, String>,
        container: Option<String>,
    ) -> Result<Self> {
        let requests: Requests = requests.into_iter().collect();
        let changed = self.0.with_requests(&name, &requests, container.as_deref());
        changed.map(Self).map_err(refused)
    }

    #[napi]
    pub fn without_zone(&self, zone: String) -> Self {
        Self(self.0.without_zone(&zone))
    }

    #[napi]
    pub fn with_prices(&self, name: String, text: String) -> Self {
        Self(self.0.with_prices(Text { name, text }))
    }

    #[napi]
    pub fn with_options(&self, options: String) -> Result<Self> {
        Ok(Self(self.0.with_options(Asked::of_json(&options).map_err(refused)?)))
    }
}

fn linted(
    texts: &[Source],
    asked: &Asked,
    stop: &StopFlag,
) -> std::result::Result<String, Refusal> {
    door::lint_texts("", texts, asked, Some(&beside), stop).map(|said: Said| said.text())
}

/// Findings about texts of which some objects may be refused.
#[napi]
pub fn lint_sync(texts: Vec<Named>, options: String) -> Result<String> {
    let asked = Asked::of_json(&options).map_err(refused)?;
    linted(&sources(texts), &asked, &StopFlag::default()).map_err(refused)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<string>")]
pub fn lint(texts: Vec<Named>, options: String, stop: &Stop) -> Result<AsyncTask<Working>> {
    let asked = Asked::of_json(&options).map_err(refused)?;
    let (texts, stop) = (sources(texts), stop.0.clone());
    Ok(AsyncTask::new(Working(Box::new(move || linted(&texts, &asked, &stop)))))
}
