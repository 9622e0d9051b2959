//! Cron schedules.

use dunnage_engine_core::cron::{Cron, is_active};

/// The first eight bytes are a time, the rest is a schedule. Hits are later than the time, on
/// a full minute, found again from anywhere before them, and open their window.
pub fn cron(bytes: &[u8]) -> bool {
    let Some((time, text)) = bytes.split_first_chunk::<8>() else { return false };
    let text = &*String::from_utf8_lossy(text);
    let cron = match Cron::parse(text) {
        Ok(cron) => cron,
        Err(e) => {
            assert!(text.is_char_boundary(e.position), "{e}");
            assert!(!e.to_string().is_empty());
            return true;
        }
    };
    let time = i64::from_le_bytes(*time);
    let Some(hit) = cron.next_after(time) else { return true };
    assert!(hit > time && hit % 60 == 0, "{hit} after {time}");
    assert_eq!(cron.next_after(hit - 1), Some(hit));
    assert_eq!(cron.next_after(hit - (hit - time) / 2 - 1), Some(hit));
    assert!(is_active(&cron, 1, hit));
    if time < hit - 1 {
        assert!(!is_active(&cron, hit - 1 - time, hit - 1), "no hit in between");
    }
    if let Some(next) = cron.next_after(hit) {
        assert_eq!(is_active(&cron, 60, hit + 60), next == hit + 60);
    }
    true
}
