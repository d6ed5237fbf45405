//! Live delivery: from the committed batch to every subscriber that wants it.
//!
//! The journal's follower calls [`Fanout::publish_sample`] once per stored sample. Without any
//! subscriber that is one relaxed load ([`Fanout::is_watched`]). With subscribers, a tag's
//! targets are looked up in a cache by its number; the cache entry is made from the tree of
//! filters and is valid for one generation of the subscriptions.
//!
//! **Invariants**: topic and payload are built only when somebody wants them, once for all;
//! nothing here waits for a subscriber: pushing into its queue is the longest a lock is held.
//! Stands after the journal in the way of one value.

mod local;
mod subscriber;
#[cfg(test)]
mod tests;
mod tree;

pub use local::LocalSubscription;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use hashbrown::HashMap;
use millrace_model::{Filter, TagId};
use parking_lot::{Mutex, RwLock};

pub(crate) use subscriber::{Delivery, Subscriber, Totals};
use tree::{Target, Tree};

/// Bytes that wait for one slow subscriber before the oldest are dropped.
pub const SUBSCRIBER_QUEUE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Tags whose targets are remembered; above it the memory starts afresh.
const CACHE_TAGS_MAX: usize = 300_000;

/// The live fan-out; clones are the same one.
#[derive(Clone, Debug)]
pub struct Fanout {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Subscriptions in the tree.
    watched: AtomicUsize,
    /// Those of them that can match a stored sample's topic: not the ones for verdicts, which
    /// every device may have and which must not make each sample be looked up.
    sample_watched: AtomicUsize,
    /// Changes with each subscription that comes or goes.
    generation: AtomicU64,
    subscriber_ids: AtomicU64,
    root_levels: usize,
    tree: RwLock<Tree>,
    cache: Mutex<HashMap<u32, CacheEntry, foldhash::fast::RandomState>>,
    totals: Arc<Totals>,
}

#[derive(Debug)]
struct CacheEntry {
    generation: u64,
    /// `None` = nobody wants it.
    wanted: Option<(Arc<str>, Box<[Target]>)>,
}

impl Fanout {
    /// A fan-out for topics below `root` (`mr/v1` by default).
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self {
            inner: Arc::new(Inner {
                watched: AtomicUsize::new(0),
                sample_watched: AtomicUsize::new(0),
                generation: AtomicU64::new(1),
                subscriber_ids: AtomicU64::new(1),
                root_levels: root.split('/').count(),
                tree: RwLock::new(Tree::new(root)),
                cache: Mutex::default(),
                totals: Arc::default(),
            }),
        }
    }

    /// Whether anybody subscribes to stored samples: without, a sample need not even be prepared.
    #[inline]
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.inner.sample_watched.load(Ordering::Relaxed) > 0
    }

    /// Whether a filter can match a stored sample's topic, `<root>/<workspace>/<path>`: not when it
    /// names `_verdict` right below the workspace, since no path begins with an underscore.
    fn sees_samples(&self, filter: &Filter) -> bool {
        filter.as_str().split('/').nth(self.inner.root_levels + 1) != Some("_verdict")
    }

    /// Whether anybody subscribes to anything at all.
    pub(crate) fn has_subscriptions(&self) -> bool {
        self.inner.watched.load(Ordering::Relaxed) > 0
    }

    /// Delivers a stored sample of `tag`. `topic` (the live topic) and `payload` are called only
    /// when they are needed; a tag's topic never changes.
    pub fn publish_sample(
        &self,
        tag: TagId,
        topic: &dyn Fn() -> String,
        payload: &dyn Fn() -> Bytes,
        qos: u8,
    ) {
        if !self.is_watched() {
            return;
        }
        let generation = self.inner.generation.load(Ordering::Acquire);
        let mut cache = self.inner.cache.lock();
        let fresh = cache.get(&tag.0).is_some_and(|entry| entry.generation == generation);
        if !fresh {
            if cache.len() >= CACHE_TAGS_MAX {
                cache.clear();
            }
            let entry = self.resolve(topic);
            cache.insert(tag.0, entry);
        }
        let Some(CacheEntry { wanted: Some((topic, targets)), .. }) = cache.get(&tag.0) else {
            return;
        };
        let payload = payload();
        for target in targets {
            target.subscriber.push(Delivery {
                topic: Arc::clone(topic),
                payload: payload.clone(),
                qos: qos.min(target.qos),
                correlation: None,
            });
        }
    }

    /// Delivers a message that is no sample to everybody who subscribes to its topic.
    pub fn publish_plain(&self, topic: &str, payload: Bytes, correlation: Option<Bytes>, qos: u8) {
        if self.has_subscriptions() {
            self.publish_where(topic, payload, correlation, qos, |_| true);
        }
    }

    /// As [`Fanout::publish_plain`], but to one subscriber alone, if it subscribes to the topic.
    pub(crate) fn publish_to(
        &self,
        subscriber: u64,
        topic: &str,
        payload: Bytes,
        correlation: Option<Bytes>,
        qos: u8,
    ) {
        self.publish_where(topic, payload, correlation, qos, |id| id == subscriber);
    }

    fn publish_where(
        &self,
        topic: &str,
        payload: Bytes,
        correlation: Option<Bytes>,
        qos: u8,
        wants: impl Fn(u64) -> bool,
    ) {
        let targets = self.inner.tree.read().matches(topic);
        let topic: Arc<str> = topic.into();
        for target in targets.iter().filter(|target| wants(target.subscriber.id)) {
            target.subscriber.push(Delivery {
                topic: Arc::clone(&topic),
                payload: payload.clone(),
                qos: qos.min(target.qos),
                correlation: correlation.clone(),
            });
        }
    }

    /// Subscribes within this process. Filters are whole topics, the root included; permission
    /// is the caller's affair.
    #[must_use]
    pub fn subscribe_local(&self, filters: Vec<Filter>, queue_max: usize) -> LocalSubscription {
        let subscriber = self.subscriber(queue_max);
        for filter in &filters {
            self.subscribe(&subscriber, filter, 0);
        }
        LocalSubscription { fanout: self.clone(), subscriber, filters }
    }

    pub(crate) fn subscriber(&self, messages_max: usize) -> Arc<Subscriber> {
        let id = self.inner.subscriber_ids.fetch_add(1, Ordering::Relaxed);
        let totals = Arc::clone(&self.inner.totals);
        Subscriber::new(id, messages_max, SUBSCRIBER_QUEUE_BYTES_MAX, totals)
    }

    /// Adds a subscription or changes its QoS.
    pub(crate) fn subscribe(&self, subscriber: &Arc<Subscriber>, filter: &Filter, qos: u8) {
        let target = Target { subscriber: Arc::clone(subscriber), qos };
        let mut tree = self.inner.tree.write();
        if tree.insert(filter, target) {
            self.inner.watched.fetch_add(1, Ordering::Relaxed);
            if self.sees_samples(filter) {
                self.inner.sample_watched.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Inside of the lock: who resolves under the read lock sees tree and number together.
        self.inner.generation.fetch_add(1, Ordering::Release);
    }

    /// Takes a subscription away; whether it was there.
    pub(crate) fn unsubscribe(&self, subscriber: &Subscriber, filter: &Filter) -> bool {
        let removed = {
            let mut tree = self.inner.tree.write();
            let removed = tree.remove(filter, subscriber.id);
            self.inner.generation.fetch_add(1, Ordering::Release);
            removed
        };
        if removed && self.sees_samples(filter) {
            self.inner.sample_watched.fetch_sub(1, Ordering::Relaxed);
        }
        if removed && self.inner.watched.fetch_sub(1, Ordering::Relaxed) == 1 {
            // The last one: the cache would otherwise hold its subscriber for ever.
            self.inner.cache.lock().clear();
        }
        removed
    }

    /// Takes all subscriptions of a subscriber away and closes its queue.
    pub(crate) fn remove_all<'a>(
        &self,
        subscriber: &Subscriber,
        filters: impl IntoIterator<Item = &'a Filter>,
    ) {
        subscriber.close();
        for filter in filters {
            self.unsubscribe(subscriber, filter);
        }
    }

    pub(crate) fn totals(&self) -> &Totals {
        &self.inner.totals
    }

    fn resolve(&self, topic: &dyn Fn() -> String) -> CacheEntry {
        let topic = topic();
        let tree = self.inner.tree.read();
        let generation = self.inner.generation.load(Ordering::Acquire);
        let targets = tree.matches(&topic);
        let wanted = (!targets.is_empty()).then(|| (Arc::from(topic), targets.into_boxed_slice()));
        CacheEntry { generation, wanted }
    }
}
