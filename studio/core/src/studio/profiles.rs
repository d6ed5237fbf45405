//! Calls about the list of appliances, and trust in them.

use super::Studio;
use crate::call::Answer;
use crate::connection::{ConnectionState, with_vault};
use crate::discovery::discover;
use crate::event::Event;
use crate::fault::{Fault, FaultCode, Result};
use crate::limits::DISCOVERY_MAX;
use crate::profile::{Profile, ProfileId, Profiles};
use crate::trust::Fingerprint;
use std::sync::Arc;
use std::time::Duration;

impl Studio {
    /// Changes the list on the disk and tells all pages.
    pub(super) async fn edit_profiles<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Profiles) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.on_disk(move |inner| {
            let mut profiles = inner.profiles.lock();
            let changed = change(&mut profiles)?;
            let all = profiles.all().to_vec();
            drop(profiles);
            inner.outbox.tell_all(&Event::Profiles { profiles: all });
            Ok(changed)
        })
        .await
    }

    pub(super) fn profile(&self, id: &ProfileId) -> Result<Profile> {
        self.0.profiles.lock().get(id).cloned()
    }

    pub(super) async fn add_profile(
        &self,
        name: String,
        address: String,
        plain: bool,
    ) -> Result<Answer> {
        let added = self.edit_profiles(move |profiles| profiles.add(&name, &address, plain));
        Ok(Answer::Profile { profile: added.await? })
    }

    pub(super) async fn change_profile(
        &self,
        id: ProfileId,
        name: String,
        address: String,
        plain: bool,
    ) -> Result<Answer> {
        let before = self.profile(&id)?;
        let changed =
            self.edit_profiles(move |profiles| profiles.change(&id, &name, &address, plain));
        let profile = changed.await?;
        if profile.address != before.address || profile.plain_allowed != before.plain_allowed {
            self.disconnect(&profile.id);
        }
        Ok(Answer::Profile { profile })
    }

    pub(super) async fn remove_profile(&self, id: ProfileId, with_drafts: bool) -> Result<Answer> {
        self.profile(&id)?;
        let asked = id.clone();
        let has_drafts = self.on_disk(move |inner| inner.store.has_drafts(&asked)).await?;
        if has_drafts && !with_drafts {
            let message = "There are drafts that were never deployed. They would be lost.";
            return Err(Fault::invalid("with_drafts", message));
        }
        self.disconnect(&id);
        let key = id.to_string();
        with_vault(&self.0.parts.vault, move |vault| vault.remove(&key)).await?;
        let gone = id.clone();
        self.on_disk(move |inner| inner.store.forget(&gone)).await?;
        self.edit_profiles(move |profiles| profiles.remove(&id)).await?;
        Ok(Answer::Done)
    }

    /// Pins the certificate that the appliance was seen to show, and connects with it.
    pub(super) async fn trust(
        &self,
        id: ProfileId,
        fingerprint: Fingerprint,
        replaces: Option<Fingerprint>,
    ) -> Result<Answer> {
        let shown = match self.link(&id)?.state() {
            ConnectionState::NotTrusted { presented, .. } => Some(presented),
            _ => None,
        };
        if shown != Some(fingerprint) {
            let message =
                "The appliance has not shown this certificate; connect and compare again.";
            return Err(Fault::invalid("fingerprint", message));
        }
        let pinned = id.clone();
        self.edit_profiles(move |profiles| profiles.pin(&pinned, fingerprint, replaces)).await?;
        tracing::warn!(profile = %id, %fingerprint, replaced = replaces.is_some(),
            "A person accepted a certificate.");
        self.disconnect(&id);
        self.connect(&id).await
    }

    pub(super) async fn discover(&self, seconds: u32) -> Result<Answer> {
        let time = Duration::from_secs(u64::from(seconds.max(1))).min(DISCOVERY_MAX);
        let browser = Arc::clone(&self.0.parts.browser);
        let searched = tokio::task::spawn_blocking(move || discover(browser.as_ref(), time)).await;
        match searched {
            Ok(Ok(found)) => Ok(Answer::Discovered { found }),
            Ok(Err(why)) => Err(Fault::new(FaultCode::Offline, why)),
            Err(_) => Err(Fault::new(FaultCode::Offline, "The search broke off.")),
        }
    }
}
