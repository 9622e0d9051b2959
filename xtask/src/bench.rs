//! `cargo xtask bench WHAT`: what planning costs, beside Karpenter's own scheduler, as inputs
//! grow, and in instructions.

mod growth;
mod instructions;
mod karpenter;
mod scaling;
mod stages;

/// Runs one of the benchmarks.
///
/// # Errors
/// An unknown benchmark or option, or the benchmark's own.
pub fn bench(words: &[String]) -> Result<(), String> {
    let (what, rest) = words.split_first().ok_or("bench karpenter|scaling|instructions")?;
    match what.as_str() {
        "karpenter" => karpenter::Options::parse(rest).and_then(|o| karpenter::karpenter(&o)),
        "scaling" => scaling::Options::parse(rest).and_then(|o| scaling::scaling(&o)),
        "instructions" => {
            instructions::Options::parse(rest).and_then(|o| instructions::instructions(&o))
        }
        other => Err(format!("no benchmark `{other}`: karpenter, scaling or instructions")),
    }
}
