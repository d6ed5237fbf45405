//! Profiles: the appliances that this computer knows, in one file.
//!
//! The file is JSON with a version. One that cannot be read is set aside and said so; the studio
//! starts with no profiles rather than not at all.
//!
//! **Invariants**: no secret is in it; the file is whole after a kill at any instant; at most
//! [`PROFILES_MAX`] profiles, each with a name of its own.

use crate::address::Address;
use crate::clock::Clock;
use crate::event::Notice;
use crate::fault::{Fault, FaultCode, Result};
use crate::file::{self, Content};
use crate::limits::{NAME_BYTES_MAX, PROFILES_BYTES_MAX, PROFILES_MAX};
use crate::trust::{Fingerprint, Pin};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The version of the file.
const VERSION: u32 = 1;

/// Names a profile for ever: sixteen hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProfileId(String);

impl ProfileId {
    fn random() -> Result<Self> {
        let number = getrandom::u64().map_err(|error| {
            Fault::new(FaultCode::Storage, format!("No random number: {error}."))
        })?;
        Ok(Self(format!("{number:016x}")))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ProfileId {
    type Error = String;
    fn try_from(text: String) -> std::result::Result<Self, String> {
        let is_one =
            text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_one { Ok(Self(text)) } else { Err("This is no profile's id.".to_owned()) }
    }
}

impl From<ProfileId> for String {
    fn from(id: ProfileId) -> Self {
        id.0
    }
}

impl fmt::Display for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An appliance that this computer knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its id.
    pub id: ProfileId,
    /// What people call it.
    pub name: String,
    /// Where it answers.
    pub address: Address,
    /// Somebody decided that its password may go unencrypted over a network.
    #[serde(default)]
    pub plain_allowed: bool,
    /// The certificate that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Pin>,
    /// Who signed in last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether that person's password is in the keyring.
    #[serde(default)]
    pub remembered: bool,
}

/// The file as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    profiles: Vec<Profile>,
}

/// All profiles and their file.
pub(crate) struct Profiles {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    profiles: Vec<Profile>,
}

impl Profiles {
    /// Reads the file; what cannot be read is set aside with a notice.
    pub(crate) fn open(path: PathBuf, clock: Arc<dyn Clock>) -> Result<(Self, Option<Notice>)> {
        let why = match file::read(&path, PROFILES_BYTES_MAX)? {
            Content::Absent => None,
            Content::TooLarge => Some("it is larger than it can be".to_owned()),
            Content::Bytes(bytes) => match parse(&bytes) {
                Ok(profiles) => return Ok((Self { path, clock, profiles }, None)),
                Err(why) => Some(why),
            },
        };
        let notice = match why {
            None => None,
            Some(why) => {
                let aside = file::set_aside(&path, clock.now())?;
                tracing::error!(aside = %aside.display(), why, "The profiles could not be read.");
                Some(Notice::damaged("the list of appliances", &aside, &why))
            }
        };
        Ok((Self { path, clock, profiles: Vec::new() }, notice))
    }

    pub(crate) fn all(&self) -> &[Profile] {
        &self.profiles
    }

    pub(crate) fn get(&self, id: &ProfileId) -> Result<&Profile> {
        let found = self.profiles.iter().find(|profile| profile.id == *id);
        found.ok_or_else(|| Fault::not_found("There is no such appliance in the list."))
    }

    /// Adds a profile.
    pub(crate) fn add(&mut self, name: &str, address: &str, plain: bool) -> Result<Profile> {
        if self.profiles.len() >= PROFILES_MAX {
            let message = format!("There are at most {PROFILES_MAX} appliances.");
            return Err(Fault::new(FaultCode::TooLarge, message));
        }
        let profile = Profile {
            id: ProfileId::random()?,
            name: self.check_name(name, None)?,
            address: check_address(address, plain)?,
            plain_allowed: plain,
            pin: None,
            user: None,
            remembered: false,
        };
        let mut profiles = self.profiles.clone();
        profiles.push(profile.clone());
        self.save(profiles)?;
        Ok(profile)
    }

    /// Renames a profile or gives it another address. Another address keeps no pin: it is another
    /// box until somebody says otherwise.
    pub(crate) fn change(
        &mut self,
        id: &ProfileId,
        name: &str,
        address: &str,
        plain: bool,
    ) -> Result<Profile> {
        let name = self.check_name(name, Some(id))?;
        let address = check_address(address, plain)?;
        self.edit(id, |profile| {
            if profile.address != address {
                profile.pin = None;
            }
            profile.name = name;
            profile.address = address;
            profile.plain_allowed = plain;
        })
    }

    /// Pins a certificate. A pin that is there is replaced only by somebody who names it.
    pub(crate) fn pin(
        &mut self,
        id: &ProfileId,
        fingerprint: Fingerprint,
        replaces: Option<Fingerprint>,
    ) -> Result<Profile> {
        let pinned = self.get(id)?.pin.as_ref().map(|pin| pin.fingerprint);
        if pinned == Some(fingerprint) {
            return self.get(id).cloned();
        }
        if pinned != replaces {
            let message = "The certificate that was accepted before is another one than named.";
            return Err(Fault::invalid("replaces", message));
        }
        let since = self.clock.now().to_string();
        self.edit(id, |profile| profile.pin = Some(Pin { fingerprint, since, before: pinned }))
    }

    pub(crate) fn signed_in(
        &mut self,
        id: &ProfileId,
        user: &str,
        remembered: bool,
    ) -> Result<Profile> {
        self.edit(id, |profile| {
            profile.user = Some(user.to_owned());
            profile.remembered = remembered;
        })
    }

    pub(crate) fn forgotten(&mut self, id: &ProfileId) -> Result<Profile> {
        self.edit(id, |profile| profile.remembered = false)
    }

    pub(crate) fn remove(&mut self, id: &ProfileId) -> Result<()> {
        self.get(id)?;
        let kept = self.profiles.iter().filter(|profile| profile.id != *id).cloned().collect();
        self.save(kept)
    }

    fn edit(&mut self, id: &ProfileId, change: impl FnOnce(&mut Profile)) -> Result<Profile> {
        let mut profiles = self.profiles.clone();
        let found = profiles.iter_mut().find(|profile| profile.id == *id);
        let profile =
            found.ok_or_else(|| Fault::not_found("There is no such appliance in the list."))?;
        change(profile);
        let changed = profile.clone();
        if self.profiles != profiles {
            self.save(profiles)?;
        }
        Ok(changed)
    }

    /// What is in memory is what is on the disk: a failed write changes nothing.
    fn save(&mut self, profiles: Vec<Profile>) -> Result<()> {
        let stored = Stored { version: VERSION, profiles };
        let text = serde_json::to_vec_pretty(&stored)
            .map_err(|error| Fault::new(FaultCode::Storage, format!("No JSON: {error}.")))?;
        file::write(&self.path, &text)?;
        self.profiles = stored.profiles;
        Ok(())
    }

    fn check_name(&self, name: &str, own: Option<&ProfileId>) -> Result<String> {
        let name = name.trim();
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            let message = format!("A name has 1 to {NAME_BYTES_MAX} bytes and no control letters.");
            return Err(Fault::invalid("name", message));
        }
        if self.profiles.iter().any(|other| other.name == name && Some(&other.id) != own) {
            return Err(Fault::invalid("name", "Another appliance in the list has this name."));
        }
        Ok(name.to_owned())
    }
}

fn check_address(text: &str, plain: bool) -> Result<Address> {
    let address = Address::parse(text).map_err(|why| Fault::invalid("address", why))?;
    address.check_plain(plain)?;
    Ok(address)
}

fn parse(bytes: &[u8]) -> std::result::Result<Vec<Profile>, String> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if version != VERSION {
        return Err(format!("it has version {version}; this program reads version {VERSION}"));
    }
    let stored: Stored = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if stored.profiles.len() > PROFILES_MAX {
        return Err(format!("it has more than {PROFILES_MAX} appliances"));
    }
    Ok(stored.profiles)
}

#[cfg(test)]
mod tests;
