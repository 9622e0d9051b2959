//! Whether a budget's schedule is a cron line: `@` names or five fields, in UTC.
//!
//! Says only that it is one; when it next starts is the engine's business.

const NAMES: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    /// Names of values, the first for `least`.
    words: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, words: &[] },
    Field { name: "hour", least: 0, most: 23, words: &[] },
    Field { name: "day of month", least: 1, most: 31, words: &[] },
    Field { name: "month", least: 1, most: 12, words: &MONTHS },
    Field { name: "day of week", least: 0, most: 6, words: &DAYS },
];

/// What is wrong with a schedule; `None` when nothing is.
pub(super) fn problem(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        let is_known = NAMES.contains(&schedule);
        return (!is_known).then(|| format!("must be one of {} or five fields", NAMES.join(", ")));
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!("has {} fields, a cron line has five", fields.len()));
    }
    let wrong = FIELDS.iter().zip(fields).find(|(field, text)| !field.reads(text));
    wrong.map(|(field, text)| {
        let Field { name, least, most, .. } = field;
        format!("`{text}` is not a {name}: use {least} to {most}, `*`, ranges, lists and steps")
    })
}

impl Field {
    fn reads(&self, text: &str) -> bool {
        text.split(',').all(|part| self.reads_part(part))
    }

    fn reads_part(&self, part: &str) -> bool {
        let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
        let is_step = step.is_none_or(|step| {
            step.bytes().all(|c| c.is_ascii_digit()) && step.parse::<u32>().is_ok_and(|n| n > 0)
        });
        let is_range = range == "*" || range == "?" || {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            matches!((self.value(from), self.value(to)), (Some(from), Some(to)) if from <= to)
        };
        is_step && is_range
    }

    fn value(&self, text: &str) -> Option<u32> {
        let word = self.words.iter().position(|word| word.eq_ignore_ascii_case(text));
        let value = match word {
            Some(index) => self.least + u32::try_from(index).ok()?,
            None if text.bytes().all(|c| c.is_ascii_digit()) => text.parse().ok()?,
            None => return None,
        };
        (self.least..=self.most).contains(&value).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn five_fields_or_a_name() {
        for good in ["@daily", "0 9 * * mon-fri", "*/15 0-6,22 1 JAN ?", "59 23 31 12 6"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in [
            "@noon",
            "0 9 * *",
            "0 9 * * * *",
            "60 9 * * *",
            "0 9 0 * *",
            "0 9 * 13 *",
            "0 9 * * 7",
            "5-1 * * * *",
            "*/0 * * * *",
            "TZ=UTC 0 9 * * *",
            "a b c d e",
            "+1 * * * *",
            ", * * * *",
        ] {
            assert!(problem(bad).is_some(), "{bad}");
        }
    }
}
