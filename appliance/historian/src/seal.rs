//! Sealing: the memtable becomes parts, the manifest names them, the journal may forget.
//!
//! Steps, each durable before the next: parts, manifest, cursor. A crash before the manifest
//! leaves files that no manifest names (set aside at the next start; the journal still has their
//! values); a crash before the cursor leaves a manifest whose checkpoint is ahead of the cursor,
//! and the higher of the two counts.
//!
//! **Invariants**: one seal at a time; queries see the memtable until the very moment in which
//! they see the parts; a failed seal changes nothing and is tried again with the same memtable.

mod plan;
mod resolve;

use crate::config::LAST_TEXT_BYTES_MAX;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::memory::LastText;
use crate::memtable::{Memtable, Row};
use crate::part::{Part, PartFacts, PartList, PartRow, PartWriter, SealFacts};
use crate::shared::Shared;
use plan::{Group, TagPlan};
use resolve::Resolved;
use std::sync::Arc;

/// Slots whose states are brought up to date under one lock.
const PIECE_SLOTS: usize = 1_024;

/// The worker's view of what is sealed.
pub(crate) struct Sealer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) manifest: Manifest,
    /// The seq that the cursor should be at.
    pub(crate) checkpoint_wanted: u64,
}

impl Sealer {
    /// Seals what there is; `false` if there is nothing.
    pub(crate) fn seal(&mut self, wall_time_max: i64) -> Result<bool> {
        let shared = Arc::clone(&self.shared);
        let (table, last_seq, parts) = {
            let mut memory = shared.memory.write();
            if memory.sealing.is_none() {
                if memory.active.is_empty() {
                    return Ok(false);
                }
                memory.swap();
            }
            let Some(table) = memory.sealing.clone() else { return Ok(false) };
            (table, memory.sealing_seq, Arc::clone(&memory.parts))
        };
        let tags = plan::tags(&table, &shared.memory.read().slots);
        let tags = plan::classify(&table, tags, shared.around.tags.as_ref());
        let resolved = resolve::resolve(&shared, &table, &tags, &parts);
        let written = self.write_parts(&table, &tags, &resolved, last_seq)?;
        let rows: u64 = written.iter().map(|facts| facts.rows).sum();
        let bytes: u64 = written.iter().map(|facts| facts.bytes).sum();
        let mut manifest = self.manifest.clone();
        manifest.next_seal += 1;
        manifest.checkpoint = last_seq;
        manifest.wall_time_max = manifest.wall_time_max.max(wall_time_max);
        manifest.parts.extend(written.iter().cloned());
        if let Err(error) = manifest.store(shared.around.disk.as_ref(), &shared.config.dir) {
            self.discard(&written);
            return Err(error);
        }
        self.manifest = manifest;
        self.publish(&table, written);
        self.recycle(table);
        self.checkpoint_wanted = last_seq;
        for (client, counts) in &resolved.counts {
            let reclassified = &shared.around.reclassified;
            reclassified.reclassified(*client, counts.redelivered, counts.superseded);
            Shared::count(&shared.counters.redelivered, counts.redelivered);
            Shared::count(&shared.counters.superseded, counts.superseded);
        }
        Shared::count(&shared.counters.seals, 1);
        Shared::count(&shared.counters.sealed_rows, rows);
        Shared::count(&shared.counters.sealed_bytes, bytes);
        Ok(true)
    }

    fn write_parts(
        &self,
        table: &Memtable,
        tags: &[TagPlan],
        resolved: &Resolved,
        last_seq: u64,
    ) -> Result<Vec<PartFacts>> {
        let seal = SealFacts {
            seal: self.manifest.next_seal,
            epoch: self.manifest.epoch,
            first_seq: self.manifest.checkpoint + 1,
            last_seq,
        };
        let mut written = Vec::new();
        for group in plan::groups(table, tags) {
            let result = self.write_part(table, tags, resolved, &group, seal);
            match result {
                Ok(Some(facts)) => written.push(facts),
                Ok(None) => {}
                Err(error) => {
                    self.discard(&written);
                    return Err(error);
                }
            }
        }
        Ok(written)
    }

    /// `None` if all rows of the group turned out to be redelivered.
    fn write_part(
        &self,
        table: &Memtable,
        tags: &[TagPlan],
        resolved: &Resolved,
        group: &Group,
        seal: SealFacts,
    ) -> Result<Option<PartFacts>> {
        let mut writer = PartWriter::new(group.class, group.start(), seal)?;
        let mut rows: Vec<&Row> = Vec::new();
        let mut count = 0u64;
        for tag in tags.iter().filter(|tag| group.may_have(tag)) {
            table.sorted(tag.slot, &mut rows);
            for row in rows.iter().filter(|row| group.has(row.time)) {
                if resolved.dropped.contains(&row.seq_delta) {
                    continue;
                }
                count += 1;
                writer.push(
                    tag.tag,
                    &PartRow {
                        time: row.time,
                        receive: row.receive,
                        quality: row.quality,
                        has_source_time: row.has_source_time(),
                        value: table.value(row),
                        seq: table.seq(row),
                    },
                )?;
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let part = writer.finish()?;
        let path = self.shared.config.dir.join("parts").join(&part.facts.name);
        let disk = &self.shared.around.disk;
        disk.durable_write(&path, &part.bytes).map_err(Error::io("write", &path))?;
        Ok(Some(part.facts))
    }

    /// Takes back files that no manifest names. If this fails too, the next start sets them aside.
    fn discard(&self, written: &[PartFacts]) {
        for facts in written {
            let path = self.shared.config.dir.join("parts").join(&facts.name);
            if let Err(error) = self.shared.around.disk.remove(&path) {
                tracing::debug!(part = facts.name, %error, "A part of a failed seal stays.");
            }
        }
    }

    /// Lets queries see the parts instead of the memtable.
    fn publish(&self, table: &Arc<Memtable>, written: Vec<PartFacts>) {
        let shared = &self.shared;
        // Raising the bounds before the change is harmless: it only makes the intake ask more.
        for piece in table.touched.chunks(PIECE_SLOTS) {
            let mut memory = shared.memory.write();
            for slot in piece {
                let Some(state) = memory.states.get_mut(*slot as usize) else { continue };
                let newest = table.newest(*slot).unwrap_or(i64::MIN);
                state.sealed_time_max = state.sealed_time_max.max(newest);
                let Some(last) = &mut state.last else { continue };
                if matches!(last.text, LastText::In(generation) if generation == table.generation)
                    && !last.kind.is_scalar()
                {
                    // A long one stays where it is; once the memtable is gone the parts answer.
                    let text = table.text(last.kind, last.bits);
                    if text.len() <= LAST_TEXT_BYTES_MAX {
                        last.text = LastText::Here(text.into());
                    }
                }
            }
        }
        let old = {
            let mut memory = shared.memory.write();
            let parts: PartList = memory.parts.with(written.into_iter().map(Part::new));
            memory.finish_seal(Arc::new(parts))
        };
        drop(old);
    }

    /// Keeps the memtable's memory for the next swap if no query reads it any more.
    fn recycle(&self, table: Arc<Memtable>) {
        if let Ok(mut table) = Arc::try_unwrap(table) {
            table.clear(0);
            self.shared.memory.write().keep_spare(table);
        }
    }
}
