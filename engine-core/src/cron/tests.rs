extern crate alloc;

use super::*;
use alloc::string::ToString;

const SECS_PER_DAY: i64 = 86_400;

/// Seconds of a date and time in UTC, by counting days from 1970 on.
fn at(year: i64, month: i64, day: i64, hour: i64, minute: i64) -> i64 {
    let is_leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
    let length = |y: i64, m: i64| match m {
        2 => 28 + i64::from(is_leap(y)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let days: i64 = (1970..year).map(|y| 365 + i64::from(is_leap(y))).sum::<i64>()
        + (1..month).map(|m| length(year, m)).sum::<i64>()
        + day
        - 1;
    (days * 24 + hour) * 3600 + minute * 60
}

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn the_next_hit_is_strictly_later() {
    // 2026-11-30 was a Monday.
    let from = at(2026, 11, 30, 12, 34);
    for (text, hit) in [
        ("* * * * *", at(2026, 11, 30, 12, 35)),
        ("34 12 * * *", at(2026, 12, 1, 12, 34)),
        ("35 12 * * *", at(2026, 11, 30, 12, 35)),
        ("*/15 * * * *", at(2026, 11, 30, 12, 45)),
        ("5/20 * * * *", at(2026, 11, 30, 12, 45)),
        ("1,2,50 * * * *", at(2026, 11, 30, 12, 50)),
        ("0 9-17/4 * * *", at(2026, 11, 30, 13, 0)),
        ("0 9-12 * * *", at(2026, 12, 1, 9, 0)),
        ("@hourly", at(2026, 11, 30, 13, 0)),
        ("@daily", at(2026, 12, 1, 0, 0)),
        ("@midnight", at(2026, 12, 1, 0, 0)),
        ("@weekly", at(2026, 12, 6, 0, 0)),
        ("@monthly", at(2026, 12, 1, 0, 0)),
        ("@yearly", at(2027, 1, 1, 0, 0)),
        ("@annually", at(2027, 1, 1, 0, 0)),
        ("0 0 ? * mon-fri", at(2026, 12, 1, 0, 0)),
        ("0 0 * * SUN", at(2026, 12, 6, 0, 0)),
        ("0 0 1 jan ?", at(2027, 1, 1, 0, 0)),
        ("0 0 1 FEB-Apr,12 *", at(2026, 12, 1, 0, 0)),
        ("0 0 31 * *", at(2026, 12, 31, 0, 0)),
        ("0 0 31 11,1 *", at(2027, 1, 31, 0, 0)),
        ("0 0 29 2 *", at(2028, 2, 29, 0, 0)),
        ("  0   0\t1 1 * ", at(2027, 1, 1, 0, 0)),
    ] {
        assert_eq!(cron(text).next_after(from), Some(hit), "{text}");
    }
}

#[test]
fn either_day_field_is_enough_when_both_restrict() {
    let from = at(2026, 11, 30, 0, 0);
    // The 13th, or a Friday (the 4th of December).
    assert_eq!(cron("0 0 13 * 5").next_after(from), Some(at(2026, 12, 4, 0, 0)));
    // `*` in one of them, even within a list, leaves the choice to the other.
    assert_eq!(cron("0 0 13 * *").next_after(from), Some(at(2026, 12, 13, 0, 0)));
    assert_eq!(cron("0 0 13,* * 5").next_after(from), Some(at(2026, 12, 4, 0, 0)));
    assert_eq!(cron("0 0 */1 * 5").next_after(from), Some(at(2026, 12, 4, 0, 0)));
    // A step restricts: odd days or Fridays.
    assert_eq!(cron("0 0 */2 * 5").next_after(from), Some(at(2026, 12, 1, 0, 0)));
    assert_eq!(cron("0 0 */2 * 5").next_after(at(2026, 12, 3, 0, 0)), Some(at(2026, 12, 4, 0, 0)));
}

#[test]
fn february_29th_comes_in_leap_years() {
    let leap = cron("0 0 29 2 *");
    assert_eq!(leap.next_after(at(2028, 2, 29, 0, 0)), Some(at(2032, 2, 29, 0, 0)));
    // 2100 is no leap year: eight years without.
    assert_eq!(leap.next_after(at(2096, 2, 29, 0, 0)), Some(at(2104, 2, 29, 0, 0)));
    assert_eq!(leap.next_after(at(1996, 3, 1, 0, 0)), Some(at(2000, 2, 29, 0, 0)));
    assert_eq!(cron("0 0 30 2 *").next_after(0), None);
    assert_eq!(cron("0 0 31 4,6,9,11 *").next_after(0), None);
}

#[test]
fn times_before_1970_and_at_the_ends_of_the_numbers_are_answered() {
    assert_eq!(cron("* * * * *").next_after(-1), Some(0));
    assert_eq!(cron("* * * * *").next_after(-61), Some(-60));
    assert_eq!(cron("@daily").next_after(-SECS_PER_DAY - 1), Some(-SECS_PER_DAY));
    assert!(cron("* * * * *").next_after(i64::MIN).is_some());
    assert_eq!(cron("* * * * *").next_after(i64::MAX), None);
    assert!(is_active(&cron("@hourly"), i64::MAX, 0));
    assert!(!is_active(&cron("@hourly"), 1, i64::MAX));
}

#[test]
fn a_window_includes_its_start_and_not_its_end() {
    let daily = cron("0 9 * * *");
    let hit = at(2026, 11, 30, 9, 0);
    for (duration, now, open) in [
        (3600, hit - 1, false),
        (3600, hit, true),
        (3600, hit + 1, true),
        (3600, hit + 3599, true),
        (3600, hit + 3600, false),
        (1, hit, true),
        (1, hit + 1, false),
        (0, hit, false),
        (-5, hit, false),
        // Longer than the recurrence: always open.
        (86_400, hit - 1, true),
        (86_399, hit - 1, false),
    ] {
        assert_eq!(is_active(&daily, duration, now), open, "{duration} s, {} s after", now - hit);
    }
    // The month without the day has no window.
    let last = cron("0 0 31 * *");
    assert!(!is_active(&last, 86_400, at(2026, 11, 30, 12, 0)));
    assert!(is_active(&last, 86_400, at(2026, 12, 31, 12, 0)));
    assert!(!is_active(&cron("0 0 30 2 *"), i64::MAX, at(2026, 3, 1, 0, 0)));
}

#[test]
fn mistakes_are_named_with_field_and_place() {
    use CronProblem::*;
    use Field::*;
    for (text, field, position, problem) in [
        ("", None, 0, Fields { found: 0 }),
        ("* * * *", None, 0, Fields { found: 4 }),
        (" 0 0 0 1 1 *", None, 1, Fields { found: 6 }),
        ("@every 1h", None, 0, UnknownMacro),
        ("@Daily", None, 0, UnknownMacro),
        ("TZ=UTC 0 0 * * *", None, 0, TimeZone),
        ("CRON_TZ=UTC 0 0 * * *", None, 0, TimeZone),
        ("60 * * * *", Some(Minute), 0, OutOfRange { value: 60 }),
        ("0 24 * * *", Some(Hour), 2, OutOfRange { value: 24 }),
        ("0 0 0 * *", Some(DayOfMonth), 4, OutOfRange { value: 0 }),
        ("0 0 32 * *", Some(DayOfMonth), 4, OutOfRange { value: 32 }),
        ("0 0 1 13 *", Some(Month), 6, OutOfRange { value: 13 }),
        ("0 0 * * 7", Some(DayOfWeek), 8, OutOfRange { value: 7 }),
        ("0 0 * * 1-7", Some(DayOfWeek), 10, OutOfRange { value: 7 }),
        ("0 0 * * 99999999999", Some(DayOfWeek), 8, OutOfRange { value: u32::MAX }),
        ("30-10 * * * *", Some(Minute), 0, Backwards),
        ("0 0 * * sat-sun", Some(DayOfWeek), 8, Backwards),
        ("*/0 * * * *", Some(Minute), 2, ZeroStep),
        ("1,, * * * 8", Some(DayOfWeek), 10, OutOfRange { value: 8 }),
        (", * * * *", Some(Minute), 0, Empty),
        ("*/ * * * *", Some(Minute), 2, Empty),
        ("-5 * * * *", Some(Minute), 0, Empty),
        ("1-2-3 * * * *", Some(Minute), 2, Malformed),
        ("1/2/3 * * * *", Some(Minute), 2, Malformed),
        ("*-5 * * * *", Some(Minute), 0, Malformed),
        ("x * * * *", Some(Minute), 0, NotANumber),
        ("1.5 * * * *", Some(Minute), 0, NotANumber),
        ("0 0 * mon *", Some(Month), 6, NotANumber),
        ("0 0 * * friday", Some(DayOfWeek), 8, NotANumber),
        ("0 0 L * *", Some(DayOfMonth), 4, NotANumber),
        ("ü * * * *", Some(Minute), 0, NotANumber),
    ] {
        let found = Cron::parse(text);
        assert_eq!(found, Err(CronError { field, position, problem }), "{text}");
    }
}

#[test]
fn messages_say_field_place_and_bounds() {
    let text = Cron::parse("0 0 * * 7").unwrap_err().to_string();
    assert_eq!(text, "day of week (byte 8): 7 is not within 0-6");
    let text = Cron::parse("0 0 *").unwrap_err().to_string();
    assert_eq!(text, "schedule (byte 0): five fields are needed, 3 found");
}

#[test]
fn dates_agree_with_counting_days() {
    let mut expected = 0;
    for year in 1970..2200 {
        for month in 1..=12 {
            let first = at(year, month, 1, 0, 0) / SECS_PER_DAY;
            let next =
                if month == 12 { at(year + 1, 1, 1, 0, 0) } else { at(year, month + 1, 1, 0, 0) };
            let days = next / SECS_PER_DAY - first;
            for d in 0..days {
                assert_eq!(
                    civil(first + d),
                    (month as u32, d as u32 + 1, days - d),
                    "{year}-{month}"
                );
                expected += 1;
            }
        }
    }
    assert_eq!(expected, at(2200, 1, 1, 0, 0) / SECS_PER_DAY);
}
