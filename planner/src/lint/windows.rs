//! When the windows of disruption budgets are open: gaps, and hours of the working week.

use dunnage_engine_core::cron::{Cron, is_active};
use jiff::Timestamp;

const MINUTE_SECS: i64 = 60;
const HOUR_SECS: i64 = 60 * MINUTE_SECS;
const DAY_SECS: i64 = 24 * HOUR_SECS;
/// What is not seen within a year is taken not to happen. LIMIT: bounds the walk over windows.
const YEAR_SECS: i64 = 366 * DAY_SECS;

/// A schedule and how long its windows are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// When windows start.
    pub schedule: Cron,
    /// How long each is.
    pub duration_secs: i64,
}

impl Window {
    fn is_open(&self, at: i64) -> bool {
        is_active(&self.schedule, self.duration_secs, at)
    }

    /// End of a window that is open at that time.
    fn end(&self, at: i64) -> Option<i64> {
        let hit = self.schedule.next_after(at.saturating_sub(self.duration_secs))?;
        (hit <= at).then(|| hit.saturating_add(self.duration_secs)).filter(|end| *end > at)
    }
}

/// The first moment from `from` on at which no window is open, within a year.
pub(super) fn first_gap(windows: &[Window], from: i64) -> Option<i64> {
    let mut at = from;
    while at - from < YEAR_SECS {
        match windows.iter().filter_map(|window| window.end(at)).max() {
            Some(end) => at = end,
            None => return Some(at),
        }
    }
    None
}

/// When the next window opens after a gap, if ever.
pub(super) fn end_of_gap(windows: &[Window], gap: i64) -> Option<i64> {
    windows.iter().filter_map(|window| window.schedule.next_after(gap)).min()
}

/// True when on each of the next five working days windows are open for `hours` in total.
pub(super) fn covers_working_days(windows: &[Window], from: i64, hours: i64) -> bool {
    const STEP_SECS: i64 = 15 * MINUTE_SECS;
    let today = from.div_euclid(DAY_SECS);
    // The first of January 1970 was a Thursday; Saturday is 6, Sunday 0.
    let is_working = |day: &i64| (1..=5).contains(&(day + 4).rem_euclid(7));
    (today + 1..today + 8).filter(is_working).all(|day| {
        let steps = (0..DAY_SECS / STEP_SECS).map(|step| day * DAY_SECS + step * STEP_SECS);
        let open = steps.filter(|at| windows.iter().any(|window| window.is_open(*at))).count();
        open as i64 * STEP_SECS >= hours * HOUR_SECS
    })
}

/// `12:00 UTC on Tue 2026-12-01`; without the day when the input tells no time.
pub(super) fn moment(at: i64, now: i64) -> String {
    let form = if now == 0 { "%H:%M UTC on %a" } else { "%H:%M UTC on %a %Y-%m-%d" };
    match Timestamp::from_second(at) {
        Ok(time) => time.strftime(form).to_string(),
        Err(_) => format!("second {at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(schedule: &str, hours: i64) -> Window {
        let schedule = Cron::parse(schedule).expect("a schedule");
        Window { schedule, duration_secs: hours * HOUR_SECS }
    }

    /// 2026-12-01T12:00:00Z, a Tuesday.
    const NOON: i64 = 1_796_126_400;

    #[test]
    fn gaps_are_found_and_cover_is_proven() {
        let day = [window("0 6 * * *", 20), window("0 2 * * *", 4)];
        assert_eq!(first_gap(&day, NOON), None);
        let short = [window("0 6 * * *", 20)];
        assert_eq!(first_gap(&short, NOON), Some(NOON + 14 * HOUR_SECS));
        assert_eq!(end_of_gap(&short, NOON + 14 * HOUR_SECS), Some(NOON + 18 * HOUR_SECS));
        assert_eq!(first_gap(&[window("0 2 * * *", 4)], NOON), Some(NOON));
        assert_eq!(first_gap(&[window("@hourly", 1)], NOON), None);
        assert_eq!(first_gap(&[window("0 0 1 * *", 24 * 31)], NOON), None);
        assert_eq!(first_gap(&[], NOON), Some(NOON));
        assert_eq!(moment(NOON, NOON), "12:00 UTC on Tue 2026-12-01");
        assert_eq!(moment(HOUR_SECS, 0), "01:00 UTC on Thu");
    }

    #[test]
    fn working_days_are_monday_to_friday() {
        assert!(covers_working_days(&[window("0 9 * * mon-fri", 8)], NOON, 8));
        assert!(!covers_working_days(&[window("0 9 * * mon-fri", 7)], NOON, 8));
        assert!(!covers_working_days(&[window("0 9 * * mon-thu", 8)], NOON, 8));
        assert!(covers_working_days(&[window("0 0 * * *", 24)], NOON, 8));
    }
}
