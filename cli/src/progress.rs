//! A line on standard error while work takes long, at a terminal only.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long work may take before a line is shown, and between its updates.
const STEP: Duration = Duration::from_secs(1);

/// Shows what is being done until it is dropped.
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to watch the clock.
    pub fn start(what: &str) -> Self {
        if !stderr().is_terminal() {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = channel::<()>();
        let what = what.to_owned();
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut is_shown = false;
            while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                let _ = write!(stderr(), "\r{what} {} s", start.elapsed().as_secs());
                let _ = stderr().flush();
                is_shown = true;
            }
            if is_shown {
                let blank = " ".repeat(what.len() + 12);
                let _ = write!(stderr(), "\r{blank}\r");
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The line is decoration: a failed thread must not fail the answer.
            let _ = thread.join();
        }
    }
}
