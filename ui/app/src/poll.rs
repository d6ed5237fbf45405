//! Asking again and again while a page is in sight, for what the appliance does not push.
//!
//! ```ignore
//! let overview = poll(&studio, Duration::from_secs(2), |api| async move {
//!     api.get::<v1::Overview>(&["overview"], &[]).await
//! });
//! ```
//!
//! **Invariants**
//! - One request at a time: a slow appliance is asked less often, not more.
//! - The last good answer stays in sight when the next one fails, and is told to be old.
//! - Nothing is asked any more when the page is left.

use crate::api::{Api, Fault, Result};
use crate::context::Studio;
use crate::locale::ago;
use leptos::prelude::*;
use millrace_kit::Freshness;
use millrace_model::Timestamp;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// So many periods without a new answer make the old one stale.
const STALE_PERIODS: u64 = 3;

/// What is asked for again and again.
pub struct Polled<T: Send + Sync + 'static> {
    /// The last good answer.
    pub value: RwSignal<Option<T>>,
    /// When it came, by the appliance's clock.
    pub taken: RwSignal<Option<Timestamp>>,
    /// Why the latest question failed; `None` after a good answer.
    pub fault: RwSignal<Option<Fault>>,
    /// Whether the answer is of now.
    pub freshness: Signal<Freshness>,
    again: RwSignal<u64>,
}

impl<T: Send + Sync + 'static> Clone for Polled<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Polled<T> {}

impl<T: Send + Sync + 'static> Polled<T> {
    /// Whether the latest question failed in a way that is worth a notice of its own: that the
    /// appliance cannot be reached is told by the frame.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.fault.with(|fault| fault.as_ref().is_some_and(|fault| !fault.is_unreachable()))
    }

    /// Asks now, without waiting for the period: after the person changed something.
    pub fn refresh(&self) {
        self.again.update(|count| *count += 1);
    }
}

/// Asks now and then once per period until the page is left.
pub fn poll<T, F, Fut>(studio: &Studio, period: Duration, ask: F) -> Polled<T>
where
    T: Send + Sync + 'static,
    F: Fn(Api) -> Fut + 'static,
    Fut: Future<Output = Result<T>> + 'static,
{
    let value = RwSignal::new(None);
    let taken = RwSignal::new(None);
    let fault = RwSignal::new(None);
    let again = RwSignal::new(0_u64);
    let left = Arc::new(AtomicBool::new(false));
    let leaving = Arc::clone(&left);
    on_cleanup(move || leaving.store(true, Ordering::Relaxed));
    let (host, api, clock) = (studio.host.clone(), studio.api.clone(), studio.clock);
    leptos::task::spawn_local(async move {
        while !left.load(Ordering::Relaxed) {
            let seen = again.try_get_untracked();
            let answer = ask(api.clone()).await;
            // The signals are gone with the page.
            if left.load(Ordering::Relaxed) {
                return;
            }
            match answer {
                Ok(answer) => {
                    value.set(Some(answer));
                    taken.set(Some(clock.now_untracked()));
                    fault.set(None);
                }
                Err(why) => fault.set(Some(why)),
            }
            // In small steps, so that a wish to ask again is soon heard.
            let mut waited = Duration::ZERO;
            while waited < period && again.try_get_untracked() == seen {
                let step = Duration::from_millis(200).min(period - waited);
                host.wait(step).await;
                waited += step;
                if left.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    });
    let language = studio.language;
    let stale_after =
        u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).saturating_mul(STALE_PERIODS);
    let freshness = Signal::derive(move || match taken.get() {
        Some(taken) if clock.age(taken) > stale_after => {
            Freshness::Stale(ago(language, clock.age(taken)))
        }
        _ => Freshness::Fresh,
    });
    Polled { value, taken, fault, freshness, again }
}
