//! The wires of a document as numbers: where ports lead, and which steps can reach which.
//!
//! **Invariants**: a graph with a cycle is refused; reach counts ways along wires and along
//! `on_error` jumps.

use crate::compile::CompileFault;
use millrace_flow::Document;
use millrace_flow::document::OnError;
use std::collections::BTreeMap;

/// Most output ports of a step.
const PORTS_MAX: usize = 64;

/// Wires and jumps by number.
pub(crate) struct Graph {
    numbers: BTreeMap<String, u16>,
    /// By step, by port.
    ports: Vec<Vec<Vec<u16>>>,
    jumps: Vec<Option<u16>>,
}

/// For each step, the steps from which it can be reached, as bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    words: usize,
    /// By step: those that can be reached from it.
    from: Vec<u64>,
}

impl Reach {
    /// Whether something that stands at `from` can still come to `to`.
    pub(crate) fn can(&self, from: u16, to: u16) -> bool {
        let word = usize::from(from) * self.words + usize::from(to / 64);
        self.from.get(word).is_some_and(|word| word >> (to % 64) & 1 == 1)
    }
}

impl Graph {
    pub(crate) fn read(document: &Document, faults: &mut Vec<CompileFault>) -> Self {
        let numbers: BTreeMap<String, u16> = document.steps.keys().cloned().zip(0u16..).collect();
        let mut ports: Vec<Vec<Vec<u16>>> = document
            .steps
            .values()
            .map(|step| {
                let count = step.known_kind().map_or(1, |kind| kind.ports.len());
                vec![Vec::new(); count.min(PORTS_MAX)]
            })
            .collect();
        for wire in &document.wires {
            let fault =
                |message: String| CompileFault { step: wire.from.clone(), field: None, message };
            let Some(from) = numbers.get(&wire.from) else {
                faults.push(fault("a wire begins here, but there is no such step".into()));
                continue;
            };
            let Some(to) = numbers.get(&wire.to) else {
                faults.push(fault(format!("a wire leads to `{}`, which is not there", wire.to)));
                continue;
            };
            let kind = document.steps.get(&wire.from).and_then(|step| step.known_kind());
            let port = match kind {
                Some(kind) => kind.port(&wire.port),
                // Kinds of tests and extensions: `out`, or a port by its number.
                None if wire.port == "out" => Some(0),
                None => wire.port.parse().ok().filter(|port| usize::from(*port) < PORTS_MAX),
            };
            let Some(port) = port.map(usize::from) else {
                faults.push(fault(format!("has no port `{}`", wire.port)));
                continue;
            };
            if let Some(step) = ports.get_mut(usize::from(*from)) {
                if step.len() <= port {
                    step.resize(port + 1, Vec::new());
                }
                if let Some(port) = step.get_mut(port)
                    && !port.contains(to)
                {
                    port.push(*to);
                }
            }
        }
        let jumps = document
            .steps
            .values()
            .map(|step| match &step.on_error {
                OnError::GoTo(to) => numbers.get(to).copied(),
                OnError::Stop | OnError::Continue => None,
            })
            .collect();
        let graph = Self { numbers, ports, jumps };
        if let Some(step) = graph.cycle() {
            let step = document.steps.keys().nth(usize::from(step)).cloned().unwrap_or_default();
            let message = "is part of a cycle of wires; use `on_error` or a variable".to_owned();
            faults.push(CompileFault { step, field: None, message });
        }
        graph
    }

    pub(crate) fn number(&self, id: &str) -> Option<u16> {
        self.numbers.get(id).copied()
    }

    pub(crate) fn ports(&self, step: u16) -> Box<[Box<[u16]>]> {
        let ports = self.ports.get(usize::from(step)).into_iter().flatten();
        ports.map(|targets| targets.clone().into()).collect()
    }

    fn next(&self, step: u16) -> impl Iterator<Item = u16> + '_ {
        self.ports.get(usize::from(step)).into_iter().flatten().flatten().copied()
    }

    fn steps(&self) -> impl Iterator<Item = u16> + use<> {
        0..u16::try_from(self.ports.len()).unwrap_or(u16::MAX)
    }

    /// A step on a cycle of wires, if there is one: what is left when steps without an input are
    /// taken away again and again.
    fn cycle(&self) -> Option<u16> {
        let mut inputs = vec![0usize; self.ports.len()];
        for to in self.steps().flat_map(|step| self.next(step)) {
            if let Some(count) = inputs.get_mut(usize::from(to)) {
                *count += 1;
            }
        }
        let mut free: Vec<u16> =
            self.steps().filter(|step| inputs.get(usize::from(*step)) == Some(&0)).collect();
        while let Some(step) = free.pop() {
            for to in self.next(step) {
                if let Some(count) = inputs.get_mut(usize::from(to)) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(to);
                    }
                }
            }
        }
        self.steps().find(|step| inputs.get(usize::from(*step)).is_some_and(|count| *count > 0))
    }

    /// What can be reached from where.
    pub(crate) fn reach(&self) -> Reach {
        let words = self.ports.len().div_ceil(64);
        let mut from = vec![0u64; words * self.ports.len()];
        for (start, row) in self.steps().zip(from.chunks_mut(words.max(1))) {
            let mut open: Vec<u16> = vec![start];
            while let Some(step) = open.pop() {
                let jump = self.jumps.get(usize::from(step)).copied().flatten();
                for to in self.next(step).chain(jump) {
                    if let Some(word) = row.get_mut(usize::from(to / 64))
                        && *word >> (to % 64) & 1 == 0
                    {
                        *word |= 1 << (to % 64);
                        open.push(to);
                    }
                }
            }
        }
        Reach { words, from }
    }
}
