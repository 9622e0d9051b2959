//! Texts that say what a cluster holds, from the reader to the plan.
//!
//! An input that starts with `#` is a text as it stands. One that starts with `~` decides
//! manifests and then spoils their text. Any other decides manifests, and most of those are
//! valid: so the fuzzer spends its time behind the reader, not in front of it.

use dunnage_planner::error::PlanError;
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::plan::{Failure, Plan, plan};
use dunnage_planner::read::{Source, read};
use dunnage_planner::snapshot::Snapshot;

use crate::draw::Draw;
use crate::manifests::{FORMS, Manifests, manifests};

/// Bytes are or decide a text that is a cluster: it is read and planned under both strategies,
/// or refused with errors that say where and what. The same objects in another form are the
/// same cluster, and a Snapshot written out is read back as itself. True when pods came as far
/// as being placed.
pub fn front_door(bytes: &[u8]) -> bool {
    match bytes.split_first() {
        Some((b'#', text)) => planned(Source::from_bytes("input.yaml", text.to_vec())),
        Some((b'~', rest)) => {
            let mut draw = Draw::bytes(rest);
            let form = draw.one_of(&FORMS);
            let (name, text) = manifests(&mut draw).text(form, false);
            planned(Source::from_bytes(name, spoiled(text.into_bytes(), &mut draw)))
        }
        _ => valid(&mut Draw::bytes(bytes)),
    }
}

fn valid(draw: &mut Draw) -> bool {
    let form = draw.one_of(&FORMS);
    let (is_held_against_json, is_written_out) = (draw.chance(12), draw.chance(12));
    let manifests = manifests(draw);
    let is_unquoted = manifests.is_hostile && draw.chance(30);
    let (name, text) = manifests.text(form, is_unquoted);
    let source = Source { name: name.to_owned(), text };
    let snapshot = read(std::slice::from_ref(&source));
    if is_held_against_json && !is_unquoted {
        same_as_json(&manifests, snapshot.as_ref().ok());
    }
    if let Ok(snapshot) = &snapshot
        && is_written_out
    {
        reads_back(snapshot);
    }
    planned(Ok(source))
}

/// The same objects, the last one first, each as a JSON text.
fn same_as_json(manifests: &Manifests, snapshot: Option<&Snapshot>) {
    let mut turned = manifests.clone();
    turned.objects.reverse();
    let (name, text) = turned.text(crate::manifests::Form::Json, false);
    let other = read(&[Source { name: name.to_owned(), text }]);
    let (own, other) = (snapshot.map(json), other.as_ref().ok().map(json));
    assert_eq!(own, other, "another form, another cluster");
}

fn json(snapshot: &Snapshot) -> String {
    serde_json::to_string(snapshot).expect("a Snapshot can be written")
}

/// A Snapshot is read back as itself, and planned the same.
fn reads_back(snapshot: &Snapshot) {
    let text = json(snapshot);
    let again = match read(&[Source { name: "again.json".to_owned(), text: text.clone() }]) {
        Ok(again) => again,
        Err(errors) => panic!("a Snapshot is not read back: {errors:?}"),
    };
    assert_eq!(json(&again), text, "a Snapshot read back is another");
    let answer = |snapshot: &Snapshot| {
        let plan = plan(snapshot, &Options::default()).ok();
        plan.map(|plan| Plan { warnings: Vec::new(), ..plan })
    };
    assert_eq!(answer(&again), answer(snapshot), "a Snapshot read back is planned differently");
}

/// Writes bytes over the text, cuts pieces out and doubles them.
fn spoiled(mut text: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    for _ in 0..draw.between(1, 8) {
        let place = |draw: &mut Draw, end: usize| {
            (draw.below(65_536) as usize * 16 + draw.below(16) as usize) % (end + 1)
        };
        let at = place(draw, text.len());
        let end = (at + draw.below(48) as usize).min(text.len());
        match draw.below(4) {
            0 => {
                let count = draw.below(16);
                let bytes: Vec<u8> = (0..count).map(|_| draw.byte()).collect();
                text.splice(at..end, bytes);
            }
            1 => drop(text.drain(at..end)),
            2 => {
                let piece = text[at..end].to_vec();
                let to = place(draw, text.len());
                text.splice(to..to, piece);
            }
            _ => text.truncate(text.len() - (end - at)),
        }
    }
    text
}

/// Reads and plans a text; true when a strategy placed pods or left them over.
fn planned(source: Result<Source, PlanError>) -> bool {
    let snapshot = match source.map_err(|error| vec![error]).and_then(|source| read(&[source])) {
        Ok(snapshot) => snapshot,
        Err(errors) => {
            explained(&errors);
            return false;
        }
    };
    let mut has_placed = false;
    for (_, strategy) in Strategy::ALL {
        match plan(&snapshot, &Options { strategy, ..Options::default() }) {
            Ok(plan) => has_placed |= plan.effort.steps > 0,
            Err(Failure::Input(errors)) => explained(&errors),
            // A limit of the engine is an answer; a refused decision or table is not.
            Err(Failure::Stopped) => unreachable!("nobody stops it"),
            Err(Failure::Broken(why)) => assert!(why.starts_with("limit "), "{why}"),
        }
    }
    has_placed
}

fn explained(errors: &[PlanError]) {
    assert!(!errors.is_empty(), "a refusal without a reason");
    errors.iter().for_each(|e| assert!(!e.to_string().is_empty()));
}
