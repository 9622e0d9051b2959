//! `cargo xtask node`: builds the addon, packs it, and tests the package as a user installs it, in a
//! folder outside the clone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run;

/// Files of the package beside the addon.
const FILES: [&str; 5] = ["package.json", "README.md", "index.cjs", "index.mjs", "index.d.ts"];
const ADDON: &str = "dunnage.linux-x64-gnu.node";
/// What `tsc --strict` needs.
const NEEDS: [&str; 2] = ["typescript@7.0.2", "@types/node@20"];

/// The README's quick start: a first plan in five lines.
const QUICK: &str = "import { Snapshot } from 'dunnage'
const cluster = Snapshot.load(process.env.EXAMPLE)
const plan = await cluster.plan()
if (plan.cost.launchPerHour !== 0.306) throw new Error(JSON.stringify(plan.cost))
console.log(plan.launch[0].cheapest, plan.cost)";

/// True when Node.js 20 or later and npm are here.
pub fn is_there() -> bool {
    const LEAST: &str = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";
    let quiet = |name: &str, words: &[&str]| {
        let mut asked = Command::new(name);
        asked.args(words).stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    quiet("node", &["-e", LEAST]) && quiet("npm", &["--version"])
}

/// Builds, packs, installs and tests; how many tests passed and failed.
///
/// # Errors
/// A step fails, or a test does.
pub fn node() -> Result<(u64, u64), String> {
    if !is_there() {
        return Err("no Node.js 20 with npm is here".to_owned());
    }
    let packages = ["--package", "dunnage", "--package", "dunnage-bindings-node"];
    run::step(run::cargo().args(["build", "--release"]).args(packages))?;
    let room = run::cache_dir().join("node");
    let (package, user) = (room.join("package"), room.join("user"));
    for folder in [&package, &user] {
        fresh(folder)?;
    }
    let here = run::root().join("bindings-node");
    for name in FILES {
        copy(&here.join(name), &package.join(name))?;
    }
    // The same types for modules and for CommonJS, which tsc tells apart by the name.
    copy(&here.join("index.d.ts"), &package.join("index.d.mts"))?;
    let release = run::target_dir().join("release");
    copy(&release.join("libdunnage_node.so"), &package.join(ADDON))?;
    let mut pack = Command::new("npm");
    pack.current_dir(&package).args(["pack", "--silent", "--pack-destination"]).arg(&room);
    let tarball = run::output(&mut pack)?;
    let tarball = room.join(tarball.trim());
    write(&user.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    let mut install = Command::new("npm");
    install.current_dir(&user).args(["install", "--silent", "--no-package-lock"]);
    run::step(install.arg(&tarball).args(NEEDS))?;
    let mut quick = Command::new("node");
    quick.current_dir(&user).args(["--input-type=module", "-e", QUICK]);
    run::step(quick.env("EXAMPLE", run::root().join("examples").join("eks-inflate")))?;
    let tests = user.join("test");
    fresh(&tests)?;
    let mut files = Vec::new();
    for file in fs::read_dir(here.join("test")).map_err(|why| why.to_string())? {
        let path = file.map_err(|why| why.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_owned();
        copy(&path, &tests.join(&name))?;
        if name.to_string_lossy().ends_with(".test.mjs") {
            files.push(Path::new("test").join(name));
        }
    }
    files.sort();
    let check = run::root().join("examples").join("pull-request-check").join("check.mjs");
    copy(&check, &user.join("check.mjs"))?;
    let mut types = Command::new("npx");
    types.current_dir(&user).args(["--no-install", "tsc", "--strict", "--noEmit"]);
    types.args(["--module", "nodenext", "--target", "es2022", "--types", "node", "test/types.ts"]);
    run::step(&mut types)?;
    let mut tested = Command::new("node");
    tested.current_dir(&user).args(["--test", "--test-reporter=tap"]).args(files);
    tested.env("DUNNAGE_ROOT", run::root()).env("DUNNAGE_CLI", release.join("dunnage"));
    counted(&mut tested)
}

/// Runs the tests and reads what they count.
fn counted(tests: &mut Command) -> Result<(u64, u64), String> {
    eprintln!("$ node --test");
    let out = tests.stderr(Stdio::inherit()).output();
    let out = out.map_err(|why| format!("node does not start: {why}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let (passed, failed) = (count("pass "), count("fail "));
    if out.status.success() && passed > 0 && failed == 0 {
        println!("node --test: {passed} passed");
        return Ok((passed, failed));
    }
    println!("{text}");
    Err(format!("Node.js: {passed} passed, {failed} failed"))
}

fn fresh(folder: &Path) -> Result<(), String> {
    let said = |why: std::io::Error| format!("{}: {why}", folder.display());
    if folder.is_dir() {
        fs::remove_dir_all(folder).map_err(said)?;
    }
    fs::create_dir_all(folder).map_err(said)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let said = |why| format!("{} to {}: {why}", from.display(), to.display());
    fs::copy(from, to).map(|_| ()).map_err(said)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|why| format!("{}: {why}", path.display()))
}
