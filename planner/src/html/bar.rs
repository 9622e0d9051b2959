//! A bar: what is used of a resource or of money, as segments that fill it exactly.

use std::fmt::Write;

use super::words::{Safe, percent};

/// Hundredths of a percent in a whole bar.
const WHOLE: i128 = 10_000;
/// Narrowest segment that has room for its letter, in hundredths of a percent.
const LETTER_ROOM: i128 = 350;
/// Narrowest part of a segment that is divided by lines, in hundredths of a percent.
const TICK_ROOM: i128 = 80;

/// A part of a bar.
pub(super) struct Segment<'a> {
    /// Style class.
    pub class: &'a str,
    /// Letter that refers to a table beside the bar; empty for none.
    pub letter: &'a str,
    /// Size, in the unit of the bar.
    pub amount: i64,
    /// Equal parts that it is divided into.
    pub parts: usize,
    /// Tool tip.
    pub title: String,
}

/// Draws segments side by side. They fill the bar; those without width are left out. `said` is
/// the text that stands for the bar where it cannot be seen.
pub(super) fn draw(out: &mut String, segments: &[Segment], said: &str) {
    let whole: i128 = segments.iter().map(|s| i128::from(s.amount.max(0))).sum();
    let _ = write!(out, "<div class=\"bar\" role=\"img\" aria-label=\"{}\">", Safe(said));
    let (mut sum, mut drawn) = (0i128, 0i128);
    for segment in segments.iter().filter(|_| whole > 0) {
        sum += i128::from(segment.amount.max(0));
        let end = sum * WHOLE / whole;
        let width = end - drawn;
        drawn = end;
        if width == 0 {
            continue;
        }
        let parts = segment.parts.max(1) as i128;
        let ticks = if parts > 1 && width / parts >= TICK_ROOM {
            format!(";--n:{parts}")
        } else {
            String::new()
        };
        let letter = if width >= LETTER_ROOM { segment.letter } else { "" };
        let _ = write!(
            out,
            "<span class=\"{}\" style=\"width:{}.{:02}%{ticks}\" title=\"{}\">{}</span>",
            segment.class,
            width / 100,
            width % 100,
            Safe(&segment.title),
            Safe(letter),
        );
    }
    out.push_str("</div>");
}

/// What the styles of bars mean: class, letter, and words that are HTML already.
pub(super) fn legend(out: &mut String, items: &[(&str, &str, &str)]) {
    out.push_str("<ul class=\"legend\">");
    for (class, letter, words) in items {
        let _ = write!(
            out,
            "<li><span class=\"key {class}\" aria-hidden=\"true\">{letter}</span>\
             <span>{words}</span></li>"
        );
    }
    out.push_str("</ul>");
}

/// A bar of one part of a whole, for cells of tables.
pub(super) fn share(out: &mut String, class: &str, part: i128, whole: i128) {
    let part_of_bar = if whole > 0 { (part * WHOLE / whole).clamp(0, WHOLE) } else { 0 };
    let segment = |class, amount: i128| Segment {
        class,
        letter: "",
        amount: amount as i64,
        parts: 1,
        title: String::new(),
    };
    draw(
        out,
        &[segment(class, part_of_bar), segment("free", WHOLE - part_of_bar)],
        &percent(part, whole),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths in hundredths of a percent.
    fn widths(html: &str) -> Vec<i64> {
        let parts = html.split("width:").skip(1);
        parts.map(|p| p.split('%').next().unwrap().replace('.', "").parse().unwrap()).collect()
    }

    #[test]
    fn segments_fill_the_bar_exactly() {
        for amounts in [vec![1, 1, 1], vec![3, 0, 7], vec![1, 1_000_000], vec![i64::MAX, i64::MAX]]
        {
            let segments: Vec<Segment> = amounts
                .iter()
                .map(|&amount| Segment {
                    class: "k0",
                    letter: "A",
                    amount,
                    parts: 3,
                    title: String::new(),
                })
                .collect();
            let mut out = String::new();
            draw(&mut out, &segments, "said");
            assert_eq!(widths(&out).iter().sum::<i64>(), 10_000, "{out}");
        }
        let mut out = String::new();
        draw(&mut out, &[], "nothing");
        assert_eq!(out, "<div class=\"bar\" role=\"img\" aria-label=\"nothing\"></div>");
    }
}
