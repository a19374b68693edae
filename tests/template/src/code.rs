//! Reading what a function uses off its source: its own and that of the shared
//! crates it is built from. The names of store operations are unique in the
//! workspace, so a call is found by its name.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// These define the operations and the queues; all others call them.
const DEFINING: [&str; 2] = ["dynamo-store", "queues"];

/// What a function's code says of it.
#[derive(Debug, Clone)]
pub struct Code {
    /// The crate.
    pub name: String,
    /// The variables it reads.
    pub variables: &'static [&'static str],
    /// The text of all it is built from, without tests and comments.
    pub source: String,
}

impl Code {
    /// Reads the code of the function `functions/<name>` in the workspace at
    /// `root`.
    ///
    /// # Errors
    /// When a file can't be read.
    pub fn read(
        root: &Path,
        name: &str,
        variables: &'static [&'static str],
    ) -> Result<Self, io::Error> {
        let mut source = String::new();
        let mut seen = BTreeSet::from(DEFINING.map(str::to_owned));
        read_crate(root, &root.join("functions").join(name), &mut seen, &mut source)?;
        Ok(Self { name: name.to_owned(), variables, source })
    }

    /// Whether it calls the method.
    #[must_use]
    pub fn calls(&self, method: &str) -> bool {
        self.source.contains(&format!(".{method}("))
    }

    /// Whether it makes one of these.
    #[must_use]
    pub fn makes(&self, kind: &str) -> bool {
        self.source.contains(&format!("{kind}::new("))
    }

    /// Whether it answers HTTP.
    #[must_use]
    pub fn answers_http(&self) -> bool {
        self.source.contains("http::serve(")
    }

    /// The query's parameters that it reads.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let calls = ["query.optional(\"", "query.required(\""];
        calls.into_iter().flat_map(|call| {
            self.source.split(call).skip(1).filter_map(|rest| rest.split('"').next())
        })
    }

    /// The signs it logs: the values of the field `metric`.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.source.split("metric = \"").skip(1).filter_map(|rest| rest.split('"').next())
    }
}

fn read_crate(
    root: &Path,
    folder: &Path,
    seen: &mut BTreeSet<String>,
    source: &mut String,
) -> Result<(), io::Error> {
    read_sources(&folder.join("src"), source)?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    for dependency in dependencies(&manifest) {
        let shared = root.join("shared").join(dependency);
        if shared.is_dir() && seen.insert(dependency.to_owned()) {
            read_crate(root, &shared, seen, source)?;
        }
    }
    Ok(())
}

/// The names under `[dependencies]`; what only tests need is no concern here.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
}

fn read_sources(folder: &Path, source: &mut String) -> Result<(), io::Error> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_sources(&path, source)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            source.push_str(&product_code(&fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The text up to the tests, which stand last, without its comments.
fn product_code(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_comments_are_no_use() {
        let text = "//! `.order_fetch(`\nfn a() { b.order_persist(c) }\n#[cfg(test)]\nmod tests { fn a() { b.order_end(c) } }\n";
        assert_eq!(product_code(text), "fn a() { b.order_persist(c) }\n");
    }

    #[test]
    fn dependencies_of_tests_are_left_out() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nqueues.workspace = true\ntokio = { workspace = true }\n\n[dev-dependencies]\ntest-support.workspace = true\n";
        assert_eq!(dependencies(manifest).collect::<Vec<_>>(), ["queues", "tokio"]);
    }
}
