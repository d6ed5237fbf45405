//! Every relative link in a Markdown file leads to a file that is there, and to a heading that is there.
//!
//! **Invariants**
//! - Code blocks and code spans hold no links.

use std::collections::BTreeSet;

use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one, root};

fn faults(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_markdown()) {
        for (number, target) in links(&file.text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let place = format!("{}:{number}", file.path);
            let Some(path) = resolve(&file.path, path) else {
                faults.push(format!("{place}: `{target}` leaves the checkout"));
                continue;
            };
            if !exists(&path) {
                faults.push(format!("{place}: `{target}` leads nowhere"));
                continue;
            }
            let Some(aim) = files.iter().find(|other| other.path == path) else { continue };
            if !anchor.is_empty() && aim.is_markdown() && !headings(&aim.text).contains(anchor) {
                faults.push(format!("{place}: `{target}`: no such heading in {path}"));
            }
        }
    }
    faults
}

/// The file's own path where `link` is empty, else the link seen from the file's folder.
fn resolve(file: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(file.to_owned());
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Line number and target of every `[text](target)` outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Every second piece between backticks is code.
        for piece in line.split('`').step_by(2).collect::<Vec<_>>().join("`").split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                links.push((number, target.split(' ').next().unwrap_or_default().to_owned()));
            }
        }
    }
    links
}

/// The anchors that the headings make, as GitHub spells them.
fn headings(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            title
                .chars()
                .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_')
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

/// Numbered lines outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, line))
    })
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    none(&faults(files(), |path| root.join(path).exists()));
}

#[test]
fn canary_objects_to_links_that_lead_nowhere() {
    let there = |path: &str| path == "docs/b.md";
    let file =
        |text: &str| [File::new("docs/a.md", text), File::new("docs/b.md", "# The B, again\n")];
    one(&faults(&file("see [c](c.md)"), there), "docs/a.md:1: `c.md` leads nowhere");
    one(&faults(&file("see [b](b.md#nothing)"), there), "no such heading");
    one(&faults(&file("x\n[up](../../etc)"), there), "leaves the checkout");
    none(&faults(&file("[b](b.md#the-b-again) [b](../docs/b.md) [w](https://example.org)"), there));
}

#[test]
fn canary_sees_no_links_in_code() {
    let text = "`[x](nowhere.md)`\n```\n[y](nowhere.md)\n```\n";
    none(&faults(&[File::new("a.md", text)], |_| false));
}
