//! Schedules hit when another implementation says so.

use chrono::DateTime;
use croner::Cron as Other;
use croner::parser::{CronParser, Seconds};
use dunnage_benches::draw::Draw;
use dunnage_engine_core::cron::Cron;

/// A field that both implementations read alike.
fn field(draw: &mut Draw, low: u32, high: u32) -> String {
    let item = |draw: &mut Draw| {
        let from = draw.between(low, high);
        let to = draw.between(from, high);
        let step = 1 + draw.below(9);
        match draw.below(4) {
            0 => format!("{from}"),
            1 => format!("{from}-{to}"),
            2 => format!("{from}-{to}/{step}"),
            _ => format!("*/{}", step + 1),
        }
    };
    match draw.below(5) {
        0 | 1 => "*".to_owned(),
        2 | 3 => item(draw),
        _ => format!("{},{}", item(draw), item(draw)),
    }
}

/// Day fields of which at most one restricts, or both without a step on `*`: there the two
/// implementations mean different things by `*/2`.
fn schedule(draw: &mut Draw) -> String {
    let (minute, hour) = (field(draw, 0, 59), field(draw, 0, 23));
    let month = field(draw, 1, 12);
    let (mut day, mut weekday) = (field(draw, 1, 31), field(draw, 0, 6));
    if day.contains("*/") && weekday != "*" {
        day = "*".to_owned();
    }
    if weekday.contains("*/") && day != "*" {
        weekday = "*".to_owned();
    }
    format!("{minute} {hour} {day} {month} {weekday}")
}

#[test]
fn hits_are_those_of_another_implementation() {
    let mut compared = 0;
    for seed in 0..1500 {
        let mut draw = Draw::seeded(seed);
        let text = schedule(&mut draw);
        let ours = Cron::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let parser = CronParser::builder().seconds(Seconds::Disallowed).build();
        let other: Other = parser.parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        // From 2000 to 2100, any second.
        let mut time = 946_684_800 + i64::from(draw.below(1 << 24)) * 188;
        for _ in 0..4 {
            let from = DateTime::from_timestamp(time, 0).expect("within a century");
            let theirs = other.find_next_occurrence(&from, false).ok().map(|t| t.timestamp());
            let hit = ours.next_after(time);
            if theirs.is_some() || hit.is_some() {
                assert_eq!(hit, theirs, "seed {seed}: `{text}` after {from}");
            }
            let Some(hit) = hit else { break };
            compared += 1;
            time = hit;
        }
    }
    assert!(compared > 5000, "{compared}");
}
