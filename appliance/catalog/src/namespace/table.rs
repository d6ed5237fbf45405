//! Tags by number: pages that are made on demand and never move, so reading takes no lock.
//!
//! A page holds 4,096 tags and beside each its retention class in one byte, which is what the
//! historian asks for once per value.
//!
//! **Invariants**: a page, once made, stays; a number above [`TAG_NUMBER_MAX`] is nowhere.

use arc_swap::ArcSwapOption;
use millrace_model::{Retention, Tag, TagId};
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

const PAGE_TAGS: usize = 4_096;
const PAGES: usize = 1_024;

/// The highest number of a tag: far above the tags that a box may have, since numbers are never
/// reused, and small enough that a damaged number cannot ask for gigabytes.
pub const TAG_NUMBER_MAX: u32 = 4_194_303;

struct Page {
    tags: Box<[ArcSwapOption<Tag>]>,
    retention: Box<[AtomicU8]>,
}

impl Page {
    fn new() -> Self {
        Self {
            tags: (0..PAGE_TAGS).map(|_| ArcSwapOption::empty()).collect(),
            retention: (0..PAGE_TAGS).map(|_| AtomicU8::new(0)).collect(),
        }
    }
}

/// The pages.
pub(super) struct Table {
    pages: Box<[OnceLock<Page>]>,
}

impl Default for Table {
    fn default() -> Self {
        Self { pages: (0..PAGES).map(|_| OnceLock::new()).collect() }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Table {
    pub(super) fn get(&self, id: TagId) -> Option<Arc<Tag>> {
        let (page, place) = split(id);
        self.pages.get(page)?.get()?.tags.get(place)?.load_full()
    }

    pub(super) fn retention(&self, id: TagId) -> Retention {
        let (page, place) = split(id);
        let code = self
            .pages
            .get(page)
            .and_then(OnceLock::get)
            .and_then(|page| page.retention.get(place))
            .map_or(0, |code| code.load(Ordering::Relaxed));
        Retention::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// Sets the tag at its number; a number that is too high is left out.
    pub(super) fn set(&self, tag: &Arc<Tag>) {
        let (page, place) = split(tag.id);
        let Some(page) = self.pages.get(page) else { return };
        let page = page.get_or_init(Page::new);
        if let (Some(slot), Some(code)) = (page.tags.get(place), page.retention.get(place)) {
            let position = Retention::ALL.iter().position(|class| *class == tag.retention);
            let position = position.and_then(|place| u8::try_from(place).ok()).unwrap_or(0);
            code.store(position, Ordering::Relaxed);
            slot.store(Some(Arc::clone(tag)));
        }
    }
}

fn split(id: TagId) -> (usize, usize) {
    let number = usize::try_from(id.0).unwrap_or(usize::MAX);
    (number / PAGE_TAGS, number % PAGE_TAGS)
}
