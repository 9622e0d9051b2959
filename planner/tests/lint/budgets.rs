//! Disruption budgets.

use dunnage_planner::lint::Severity::{Info, Warning};
use serde_json::{Value, json};

use crate::world::*;

fn budgets(list: Value) -> Value {
    with(clean(), "/nodePools/0/spec/disruption/budgets", list)
}

fn codes(input: &Value) -> Vec<&'static str> {
    report(input).findings.iter().map(|f| f.code).collect()
}

#[test]
fn a_budget_that_never_allows_is_told() {
    let want = Want {
        code: "BudgetNeverAllows",
        severity: Warning,
        object: "NodePool p",
        says: "`spec.disruption.budgets[0]` allows at no time a node to be disrupted for Drifted, \
               Empty, Underutilized",
        fix: "set `nodes` of `spec.disruption.budgets[0]` to `1` or `10%`",
    };
    let good = budgets(json!([{ "nodes": "1" }]));
    found_and_fixed(&want, &budgets(json!([{ "nodes": "0" }])), &good);
    found_and_fixed(&want, &budgets(json!([{ "nodes": "0%" }])), &good);
    let all_day = json!([{ "nodes": "0", "schedule": "0 0 * * *", "duration": "24h" }]);
    found_and_fixed(&want, &budgets(all_day), &good);
    let halves = json!([
        { "nodes": "0", "schedule": "0 0 * * *", "duration": "12h" },
        { "nodes": "5", "reasons": ["Empty", "Drifted"] },
        { "nodes": "0", "schedule": "0 12 * * *", "duration": "12h" }]);
    let want = Want {
        says: "`spec.disruption.budgets[0]` and `spec.disruption.budgets[2]` together allow",
        fix: "`spec.disruption.budgets[0]` or `spec.disruption.budgets[2]`",
        ..want
    };
    found_and_fixed(&want, &budgets(halves), &good);
}

#[test]
fn only_blocked_reasons_are_named_and_percentages_round_up() {
    let one = budgets(json!([{ "nodes": "0", "reasons": ["Drifted"] }, { "nodes": "1%" }]));
    let found = report(&one).findings;
    let own = found.iter().find(|f| f.code == "BudgetNeverAllows").expect("a finding");
    assert!(own.message.contains("disrupted for Drifted: "), "{own:#?}");
    assert_eq!(codes(&budgets(json!([{ "nodes": "1%" }]))), Vec::<&str>::new());
    // Quiet working hours beside a budget for all times.
    let quiet = json!([{ "nodes": "10%" },
        { "nodes": "0", "schedule": "0 8 * * mon-fri", "duration": "10h" }]);
    assert_eq!(codes(&budgets(quiet)), Vec::<&str>::new());
}

// CASE: C37
#[test]
fn a_gap_in_the_schedules_is_no_budget() {
    let case = json!([
        { "nodes": "20%", "reasons": ["Empty"], "schedule": "0 6 * * *", "duration": "20h" },
        { "nodes": "20%", "reasons": ["Empty", "Underutilized"],
          "schedule": "0 2 * * *", "duration": "4h" },
        { "nodes": "1", "reasons": ["Drifted"] }]);
    let want = Want {
        code: "BudgetGap",
        severity: Warning,
        object: "NodePool p",
        says: "no budget names Underutilized at 12:00 UTC on Tue 2026-12-01, until 02:00 UTC on \
               Wed 2026-12-02: any number of nodes",
        fix: "add to `spec.disruption.budgets` one without schedule, which holds at all times \
              beside the others: `{nodes: 10%, reasons: [Underutilized]}`",
    };
    let mut fixed = case.clone();
    fixed
        .as_array_mut()
        .expect("a list")
        .push(json!({ "nodes": "10%", "reasons": ["Underutilized"] }));
    found_and_fixed(&want, &budgets(case), &budgets(fixed));
}

#[test]
fn a_reason_that_no_budget_names_is_a_gap_at_any_time() {
    let found = report(&budgets(json!([{ "nodes": "1", "reasons": ["Empty"] }]))).findings;
    let own: Vec<_> = found.iter().filter(|f| f.code == "BudgetGap").collect();
    assert_eq!(own.len(), 2, "{own:#?}");
    assert!(own[0].message.contains("names Drifted at any time: "));
    // An empty list is no budget at all; an absent one is 10 %.
    assert_eq!(codes(&budgets(json!([]))), ["BudgetGap"; 3]);
    assert_eq!(codes(&budgets(Value::Null)), Vec::<&str>::new());
    // What never happens needs no budget.
    let never = with(
        budgets(json!([{ "nodes": "1", "reasons": ["Drifted"] }])),
        "/nodePools/0/spec/disruption/consolidateAfter",
        json!("Never"),
    );
    assert_eq!(codes(&never), Vec::<&str>::new());
}

// CASE: C38
#[test]
fn a_budget_is_no_rate() {
    let hourly = |more: Value| {
        let mut own = json!({ "nodes": "1%" });
        more.as_object().expect("fields").iter().for_each(|(k, v)| own[k] = v.clone());
        budgets(json!([{ "nodes": "1" }, own,
            { "nodes": "0", "schedule": "0 9 * * *", "duration": "17h" }]))
    };
    let want = Want {
        code: "BudgetIsNoRate",
        severity: Info,
        object: "NodePool p",
        says: "`spec.disruption.budgets[1]` holds at all times, since its windows follow each \
               other without a gap: `1%` is how many nodes may be disrupted at once",
        fix: "remove `schedule` and `duration` of `spec.disruption.budgets[1]`",
    };
    let bad = hourly(json!({ "schedule": "@hourly", "duration": "60m" }));
    found_and_fixed(&want, &bad, &hourly(json!({})));
}
