//! When a disruption budget's window is open: five-field cron schedules in UTC.
//!
//! Five fields (minute, hour, day of month, month, day of week) or a macro; `*` or `?`, names,
//! ranges, steps and lists. There are no seconds, no time zones and no seventh weekday. When
//! both the day of month and the day of week are restricted, a day that matches either counts.
//! Time comes from the caller as seconds since 1970.

/// A schedule: the allowed values of each field as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// A field that says `*` leaves the choice of day to the other one.
    is_any_day: bool,
}

/// A field of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// 0-59.
    Minute,
    /// 0-23.
    Hour,
    /// 1-31.
    DayOfMonth,
    /// 1-12 or `jan`-`dec`.
    Month,
    /// 0-6 or `sun`-`sat`.
    DayOfWeek,
}

/// Why a schedule is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CronError {
    /// The field; `None` when the schedule as a whole is wrong.
    pub field: Option<Field>,
    /// Byte of the text at which the mistake begins.
    pub position: usize,
    /// What is wrong there.
    pub problem: CronProblem,
}

/// What is wrong with a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronProblem {
    /// Not five fields.
    Fields {
        /// How many there are.
        found: usize,
    },
    /// A word after `@` that is no macro.
    UnknownMacro,
    /// A time zone is named; schedules are in UTC.
    TimeZone,
    /// A list or a field without any value.
    Empty,
    /// Neither a number nor a name of the field.
    NotANumber,
    /// A number outside of the field's.
    OutOfRange {
        /// The number; `u32::MAX` for one that is larger.
        value: u32,
    },
    /// A range whose end is before its start.
    Backwards,
    /// A step of zero.
    ZeroStep,
    /// More than one `-` or `/`, or a range that starts with `*`.
    Malformed,
}

const FIELDS: [Field; 5] =
    [Field::Minute, Field::Hour, Field::DayOfMonth, Field::Month, Field::DayOfWeek];

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Days that are searched for a hit: a 29th of February may be eight years away.
const HORIZON_DAYS: i64 = 9 * 366;

const MINUTES_PER_DAY: i64 = 24 * 60;

impl Field {
    /// Lowest and highest value.
    pub fn bounds(self) -> (u32, u32) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 6),
        }
    }

    /// How the field is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        }
    }

    /// The value that a name stands for.
    fn named(self, text: &str) -> Option<u32> {
        let (names, first): (&[&str], u32) = match self {
            Self::Month => (&MONTHS, 1),
            Self::DayOfWeek => (&WEEKDAYS, 0),
            _ => return None,
        };
        let at = names.iter().position(|n| n.eq_ignore_ascii_case(text))?;
        Some(first + at as u32)
    }
}

impl Cron {
    /// Reads a schedule.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let trimmed = text.trim();
        let start = text.len() - text.trim_start().len();
        let whole = |problem| Err(CronError { field: None, position: start, problem });
        if trimmed.starts_with("TZ=") || trimmed.starts_with("CRON_TZ=") {
            return whole(CronProblem::TimeZone);
        }
        if trimmed.starts_with('@') {
            return match expansion(trimmed) {
                Some(fields) => Self::parse(fields),
                None => whole(CronProblem::UnknownMacro),
            };
        }
        let found = trimmed.split_whitespace().count();
        if found != FIELDS.len() {
            return whole(CronProblem::Fields { found });
        }
        let mut read = [Values::default(); 5];
        for ((value, field), word) in read.iter_mut().zip(FIELDS).zip(trimmed.split_whitespace()) {
            let item = Item { field, text: word, position: offset(text, word) };
            *value = item.list()?;
        }
        let [minutes, hours, days, months, weekdays] = read;
        Ok(Self {
            minutes: minutes.bits,
            hours: hours.bits,
            days: days.bits,
            months: months.bits,
            weekdays: weekdays.bits,
            is_any_day: days.is_any || weekdays.is_any,
        })
    }

    /// The first hit strictly after `unix_secs`; `None` when there is none within nine years,
    /// which is to say never.
    pub fn next_after(&self, unix_secs: i64) -> Option<i64> {
        let minute = unix_secs.div_euclid(60) + 1;
        let first = minute.div_euclid(MINUTES_PER_DAY);
        let minute = minute.rem_euclid(MINUTES_PER_DAY);
        let mut day = first;
        while day < first + HORIZON_DAYS {
            let (month, day_of_month, left) = civil(day);
            if self.months >> month & 1 == 0 {
                day += left;
                continue;
            }
            if self.matches_day(day, day_of_month) {
                let after = if day == first { minute as u32 } else { 0 };
                if let Some(at) = self.minute_of_day(after) {
                    return (day * MINUTES_PER_DAY + i64::from(at)).checked_mul(60);
                }
            }
            day += 1;
        }
        None
    }

    fn matches_day(&self, day: i64, day_of_month: u32) -> bool {
        // The first of January 1970 was a Thursday.
        let weekday = (day + 4).rem_euclid(7);
        let by_month = self.days >> day_of_month & 1 != 0;
        let by_week = self.weekdays >> weekday & 1 != 0;
        if self.is_any_day { by_month && by_week } else { by_month || by_week }
    }

    /// The first hit of a matching day at or after minute `after` of it.
    fn minute_of_day(&self, after: u32) -> Option<u32> {
        let (hour, minute) = (after / 60, after % 60);
        let from = |bits: u64, least: u32| {
            let rest = bits & u64::MAX << least;
            (rest != 0).then(|| rest.trailing_zeros())
        };
        if self.hours >> hour & 1 != 0
            && let Some(minute) = from(self.minutes, minute)
        {
            return Some(hour * 60 + minute);
        }
        Some(from(self.hours, hour + 1)? * 60 + from(self.minutes, 0)?)
    }
}

/// True when a window of `duration_secs` that starts at a hit of `schedule` is open at `now`:
/// the hit itself is inside, the end is not. Windows that overlap join.
///
/// DIFFERS: a schedule that never hits is never open; to Karpenter it is always open.
pub fn is_active(schedule: &Cron, duration_secs: i64, now: i64) -> bool {
    duration_secs > 0
        && schedule.next_after(now.saturating_sub(duration_secs)).is_some_and(|hit| hit <= now)
}

/// What a macro stands for.
fn expansion(text: &str) -> Option<&'static str> {
    Some(match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => return None,
    })
}

/// Byte at which `part`, cut from `whole`, begins.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// Values of one field.
#[derive(Clone, Copy, Default)]
struct Values {
    bits: u64,
    is_any: bool,
}

/// A part of a field's text.
#[derive(Clone, Copy)]
struct Item<'t> {
    field: Field,
    text: &'t str,
    position: usize,
}

impl<'t> Item<'t> {
    fn fail<T>(self, problem: CronProblem) -> Result<T, CronError> {
        Err(CronError { field: Some(self.field), position: self.position, problem })
    }

    /// The same field's text that was cut from this one.
    fn part(self, text: &'t str) -> Self {
        Self { text, position: self.position + offset(self.text, text), ..self }
    }

    /// Items with commas between them; as in Karpenter, a comma too many does not matter.
    fn list(self) -> Result<Values, CronError> {
        let mut all = Values::default();
        for text in self.text.split(',').filter(|t| !t.is_empty()) {
            let one = self.part(text).range()?;
            all.bits |= one.bits;
            all.is_any |= one.is_any;
        }
        if all.bits == 0 { self.fail(CronProblem::Empty) } else { Ok(all) }
    }

    /// `*`, `n`, `n-m`, each with a step if wanted. `n/step` goes on to the end of the field.
    fn range(self) -> Result<Values, CronError> {
        let (low, high) = self.field.bounds();
        let (range, step) = match self.text.split_once('/') {
            Some((range, step)) => (self.part(range), Some(self.part(step).step()?)),
            None => (self, None),
        };
        let every = step.unwrap_or(1);
        if matches!(range.text, "*" | "?") {
            // A step makes a restriction of it.
            return Ok(Values { bits: bits(low, high, every), is_any: every == 1 });
        }
        let (from, to) = match range.text.split_once('-') {
            Some((from, to)) => (range.part(from).value()?, range.part(to).value()?),
            None => {
                let from = range.value()?;
                (from, if step.is_some() { high } else { from })
            }
        };
        if to < from {
            return range.fail(CronProblem::Backwards);
        }
        Ok(Values { bits: bits(from, to, every), is_any: false })
    }

    fn step(self) -> Result<u32, CronError> {
        match self.number()? {
            0 => self.fail(CronProblem::ZeroStep),
            step => Ok(step),
        }
    }

    /// A number or a name, within the field.
    fn value(self) -> Result<u32, CronError> {
        let (low, high) = self.field.bounds();
        let value = match self.field.named(self.text) {
            Some(value) => value,
            None => self.number()?,
        };
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            self.fail(CronProblem::OutOfRange { value })
        }
    }

    fn number(self) -> Result<u32, CronError> {
        if self.text.is_empty() {
            return self.fail(CronProblem::Empty);
        }
        if self.text.contains(['-', '/', '*', '?']) {
            return self.fail(CronProblem::Malformed);
        }
        let digits = self.text.strip_prefix('+').unwrap_or(self.text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return self.fail(CronProblem::NotANumber);
        }
        Ok(digits.parse().unwrap_or(u32::MAX))
    }
}

/// Bits `from`, `from + step`, ... up to `to`.
fn bits(from: u32, to: u32, step: u32) -> u64 {
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    (from..=to).step_by(step).fold(0, |bits, value| bits | 1 << value)
}

/// Month (1-12) and day (1-31) of a day since 1970, and how many days of the month are left,
/// itself included.
///
/// Counts from the first of March of a year divisible by 400, so that the leap day is the last
/// day of a year, of four years and of an era.
fn civil(day: i64) -> (u32, u32, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    let day_of_era = (day + 719_468).rem_euclid(DAYS_PER_ERA);
    let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year = (day_of_era - leaps) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    // Lengths from March on repeat 31, 30, 31, 30, 31: 153 days in five months.
    let month = (5 * day_of_year + 2) / 153;
    let start = (153 * month + 2) / 5;
    let next_year = year + 1;
    let is_leap = next_year % 4 == 0 && (next_year % 100 != 0 || next_year % 400 == 0);
    let end = if month == 11 { 365 + i64::from(is_leap) } else { (153 * (month + 1) + 2) / 5 };
    let number = if month < 10 { month + 3 } else { month - 9 };
    (number as u32, (day_of_year - start + 1) as u32, end - day_of_year)
}

impl core::fmt::Display for CronError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let position = self.position;
        match self.field {
            Some(field) => write!(f, "{} (byte {position}): ", field.name())?,
            None => write!(f, "schedule (byte {position}): ")?,
        }
        match self.problem {
            CronProblem::Fields { found } => write!(f, "five fields are needed, {found} found"),
            CronProblem::UnknownMacro => f.write_str(
                "unknown macro; there are @yearly, @annually, @monthly, @weekly, @daily, \
                 @midnight and @hourly",
            ),
            CronProblem::TimeZone => f.write_str("schedules are in UTC and name no time zone"),
            CronProblem::Empty => f.write_str("a value is missing"),
            CronProblem::NotANumber => f.write_str("neither a number nor a name"),
            CronProblem::OutOfRange { value } => {
                let (low, high) = self.field.map_or((0, 0), Field::bounds);
                write!(f, "{value} is not within {low}-{high}")
            }
            CronProblem::Backwards => f.write_str("the range ends before it starts"),
            CronProblem::ZeroStep => f.write_str("the step is zero"),
            CronProblem::Malformed => f.write_str("`*`, `-` or `/` at a wrong place"),
        }
    }
}

impl core::error::Error for CronError {}

#[cfg(test)]
mod tests;
