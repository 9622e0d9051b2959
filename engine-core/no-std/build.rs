//! Links without C start files, libc and std: the link itself is the proof.

fn main() {
    for arg in ["-nostartfiles", "-nostdlib", "-nodefaultlibs", "-static", "-Wl,--gc-sections"] {
        println!("cargo::rustc-link-arg-bins={arg}");
    }
}
