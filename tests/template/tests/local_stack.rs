//! What `localstack/` does to whoever calls it, with stand-ins for what takes
//! long.
#![cfg(test)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of the test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(command: &mut Command, state: &Path) -> Output {
    let tools = state.join("tools");
    command.current_dir(root()).env("ONSALE_STATE", state).env("ONSALE_TOOLS", tools);
    command.output().unwrap()
}

#[test]
fn what_is_started_keeps_nothing_of_its_caller_open() {
    let script = r#"
        source localstack/lib.sh
        exec 7>"$ONSALE_STATE/seven" 9>"$ONSALE_STATE/nine" 42>"$ONSALE_STATE/many"
        start probe sleep 600
        ls "/proc/$(running probe)/fd"
        stop probe
    "#;
    let output = run(Command::new("bash").args(["-euc", script]), &folder("descriptors"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n1\n2\n", "{output:?}");
}

/// A tool that notes what it finds and fails, so that nothing is deployed.
const SAM: &str = r#"#!/bin/sh
echo "ARCH=$ARCH PREBUILT=$PREBUILT"
command -v cargo-lambda
exit 1
"#;

#[test]
fn for_containers_functions_are_built_as_for_aws_and_for_this_processor() {
    let state = folder("containers");
    for (name, program) in [("sam", "sam"), ("lambda", "cargo-lambda")] {
        let tool = state.join("tools").join(name);
        fs::create_dir_all(tool.join("bin")).unwrap();
        let pinned = root().join(format!("localstack/requirements/{name}.txt"));
        fs::copy(pinned, tool.join("requirements.txt")).unwrap();
        let program = tool.join("bin").join(program);
        fs::write(&program, SAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut up = Command::new("localstack/up");
    up.env("ONSALE_ENDPOINT", "http://127.0.0.1:1").env_remove("PREBUILT").env_remove("ARCH");
    let output = run(&mut up, &state);
    assert!(!output.status.success());
    let seen = fs::read_to_string(state.join("deploy.log"))
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" };
    let cargo_lambda = fs::canonicalize(state.join("tools/lambda/bin/cargo-lambda")).unwrap();
    assert_eq!(seen, format!("ARCH={machine} PREBUILT=\n{}\n", cargo_lambda.display()));
}

#[test]
fn the_emulator_in_a_container_is_the_one_that_is_tested() {
    let pinned = fs::read_to_string(root().join("localstack/requirements/emulator.txt")).unwrap();
    let version = pinned.lines().find_map(|line| line.strip_prefix("ministack==")).unwrap();
    let compose = fs::read_to_string(root().join("localstack/compose.yaml")).unwrap();
    assert!(compose.contains(&format!("ministackorg/ministack:{version}-full}}")));
}
