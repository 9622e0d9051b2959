//! How the platform links an addon of Node.js.

fn main() {
    napi_build::setup();
}
