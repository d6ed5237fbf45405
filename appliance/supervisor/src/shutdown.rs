//! One signal that everything which runs on waits for.
//!
//! **Invariants**: once begun it never ends; cheap to clone and to look at.

use std::sync::Arc;
use tokio::sync::watch;

/// Tells whether the appliance is stopping.
#[derive(Clone, Debug)]
pub struct Shutdown {
    sender: Arc<watch::Sender<bool>>,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

impl Shutdown {
    /// Not begun.
    #[must_use]
    pub fn new() -> Self {
        Self { sender: Arc::new(watch::Sender::new(false)) }
    }

    /// Begins the stop; again is harmless.
    pub fn begin(&self) {
        self.sender.send_replace(true);
    }

    /// Whether the stop has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        *self.sender.borrow()
    }

    /// Waits until the stop begins.
    pub async fn begun(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives as long as `self`, so this only ends when the value is true.
        let _seen = receiver.wait_for(|begun| *begun).await.is_ok();
    }
}
