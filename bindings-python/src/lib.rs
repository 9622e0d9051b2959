//! The planner for Python: a handle that is read once, and answers as the command line prints
//! them. Names, types and frames are in `python/dunnage`; nothing is decided on this side.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use dunnage_planner::door::{self, Asked, Refusal, Text, Verb};
use dunnage_planner::options::StopFlag;
use dunnage_planner::read::{Source, path_beside};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(_native, Refused, PyException, "Why there is no answer, as JSON.");

/// How often Python is asked whether Ctrl-C was pressed.
const SIGNAL_PERIOD: Duration = Duration::from_millis(20);

fn refused(refusal: Refusal) -> PyErr {
    Refused::new_err(refusal.text())
}

fn sources(texts: Vec<(String, String)>) -> Vec<Source> {
    texts.into_iter().map(|(name, text)| Source { name, text }).collect()
}

/// Opens a file that a source names, relative to that source.
fn beside(source: &str, path: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path_beside(source, path))
}

/// Works without the interpreter's lock and ends early, with the exception, when a signal handler
/// of Python raises one.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&StopFlag) -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let stop = StopFlag::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let flag = stop.clone();
            let working = scope.spawn(move || {
                let said = work(&flag);
                drop(done);
                said
            });
            let mut raised = None;
            while let Err(mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(SIGNAL_PERIOD) {
                if raised.is_none()
                    && let Err(why) = Python::attach(|py| py.check_signals())
                {
                    stop.raise();
                    raised = Some(why);
                }
            }
            let said = working.join().map_err(|_| {
                Refused::new_err("{\"errors\":[{\"code\":\"Broken\",\"path\":\"\",\"message\":\"the planner panicked\"}]}")
            })?;
            match raised {
                Some(why) => Err(why),
                None => said.map_err(refused),
            }
        })
    })
}

/// An input that was read. It never changes: what-ifs are others.
#[pyclass(frozen, module = "dunnage._native")]
struct World(door::World);

#[pymethods]
impl World {
    /// Reads texts as (name, text); `options` is JSON.
    #[staticmethod]
    fn open(py: Python<'_>, texts: Vec<(String, String)>, options: &str) -> PyResult<Self> {
        let asked = Asked::of_json(options).map_err(refused)?;
        let sources = sources(texts);
        py.detach(|| door::World::open(&sources, &asked, Some(&beside))).map(Self).map_err(refused)
    }

    /// The answer to a verb in words, as the text that the command line prints.
    fn answer(&self, py: Python<'_>, words: Vec<String>, options: &str) -> PyResult<String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let verb = Verb::of(&words).map_err(refused)?;
        let asked = Asked::of_json(options).map_err(refused)?;
        interruptible(py, |stop| self.0.answer(&verb, &asked, stop))
    }

    fn with_objects(&self, py: Python<'_>, name: String, text: String) -> PyResult<Self> {
        self.changed(py, |world| world.with_objects(&Source { name, text }))
    }

    fn without_pool(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        self.changed(py, |world| world.without_pool(name))
    }

    #[pyo3(signature = (name, text, replicas))]
    fn with_workload(
        &self,
        py: Python<'_>,
        name: String,
        text: String,
        replicas: Option<u32>,
    ) -> PyResult<Self> {
        self.changed(py, |world| world.with_workload(&Source { name, text }, replicas))
    }

    fn without_workload(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        self.changed(py, |world| world.without_workload(name))
    }

    #[pyo3(signature = (name, requests, container))]
    fn with_requests(
        &self,
        py: Python<'_>,
        name: &str,
        requests: BTreeMap<String, String>,
        container: Option<&str>,
    ) -> PyResult<Self> {
        self.changed(py, |world| world.with_requests(name, &requests, container))
    }

    fn without_zone(&self, zone: &str) -> Self {
        Self(self.0.without_zone(zone))
    }

    fn with_prices(&self, name: String, text: String) -> Self {
        Self(self.0.with_prices(Text { name, text }))
    }

    fn with_options(&self, options: &str) -> PyResult<Self> {
        let asked = Asked::of_json(options).map_err(refused)?;
        Ok(Self(self.0.with_options(asked)))
    }
}

impl World {
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&door::World) -> Result<door::World, Refusal> + Send,
    ) -> PyResult<Self> {
        py.detach(|| change(&self.0)).map(Self).map_err(refused)
    }
}

/// Findings about texts of which some objects may be refused.
#[pyfunction]
fn lint(py: Python<'_>, texts: Vec<(String, String)>, options: &str) -> PyResult<String> {
    let asked = Asked::of_json(options).map_err(refused)?;
    let sources = sources(texts);
    interruptible(py, |stop| {
        door::lint_texts("", &sources, &asked, Some(&beside), stop).map(|said| said.text())
    })
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<World>()?;
    module.add_function(wrap_pyfunction!(lint, module)?)?;
    module.add("Refused", module.py().get_type::<Refused>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
