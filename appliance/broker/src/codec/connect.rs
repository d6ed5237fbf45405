//! CONNECT: who comes, speaking what, wanting what.
//!
//! **Invariants**: the protocol's name and level are looked at before anything else; a will is
//! read and checked in full although it is refused afterwards; nothing may follow the payload.

use super::property::{self, Properties, id};
use super::wire::Reader;
use super::{Fault, Version};
use thiserror::Error;

/// Most user properties of a CONNECT, and as many of its will.
pub const USER_PROPERTIES_MAX: usize = 10;

/// A CONNECT that keeps to the standard.
#[derive(Clone, PartialEq, Eq)]
pub struct Connect {
    /// The protocol.
    pub version: Version,
    /// Clean start (5.0) or clean session (3.1.1).
    pub is_clean: bool,
    /// Keep alive; 0 = none.
    pub keep_alive_seconds: u16,
    /// The MQTT client identifier; empty = the server names one.
    pub client_id: String,
    /// The user name.
    pub user: Option<String>,
    /// The password.
    pub password: Option<Vec<u8>>,
    /// Whether it leaves a will.
    pub has_will: bool,
    /// Whether it asks for enhanced authentication.
    pub has_authentication: bool,
    /// Unacknowledged messages that it takes.
    pub receive_maximum: u16,
    /// Largest packet that it takes.
    pub packet_bytes_max: u32,
    /// Whether it wants reason strings.
    pub wants_problem_information: bool,
}

impl std::fmt::Debug for Connect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The password stays out of every log.
        f.debug_struct("Connect")
            .field("version", &self.version)
            .field("client_id", &self.client_id)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Why a CONNECT is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectFault {
    /// Not MQTT at all: nothing is answered.
    #[error("the first packet is not an MQTT CONNECT")]
    Foreign,
    /// MQTT, but neither 3.1.1 nor 5.0.
    #[error("protocol level {0} is not spoken here")]
    Level(u8),
    /// Known version, broken rule.
    #[error("{1}")]
    Broken(Version, Fault),
}

impl Connect {
    /// Reads a CONNECT from its body.
    ///
    /// # Errors
    /// The first rule of the standard that it breaks.
    pub fn decode(body: &[u8]) -> Result<Self, ConnectFault> {
        let mut reader = Reader::new(body);
        let name = reader.binary().map_err(|_| ConnectFault::Foreign)?;
        let level = reader.byte().map_err(|_| ConnectFault::Foreign)?;
        let version = match (name, level) {
            (b"MQTT", 4) => Version::V311,
            (b"MQTT", 5) => Version::V5,
            (b"MQTT" | b"MQIsdp", level) => return Err(ConnectFault::Level(level)),
            _ => return Err(ConnectFault::Foreign),
        };
        Self::decode_rest(reader, version).map_err(|fault| ConnectFault::Broken(version, fault))
    }

    fn decode_rest(mut reader: Reader<'_>, version: Version) -> Result<Self, Fault> {
        let flags = reader.byte()?;
        check_flags(flags, version)?;
        let mut connect = Self {
            version,
            is_clean: flags & 0x02 != 0,
            keep_alive_seconds: reader.two()?,
            client_id: String::new(),
            user: None,
            password: None,
            has_will: flags & 0x04 != 0,
            has_authentication: false,
            receive_maximum: u16::MAX,
            packet_bytes_max: u32::MAX,
            wants_problem_information: true,
        };
        if version == Version::V5 {
            connect.read_properties(&mut reader)?;
        }
        reader.string()?.clone_into(&mut connect.client_id);
        if connect.has_will {
            check_will(&mut reader, version)?;
        }
        if flags & 0x80 != 0 {
            connect.user = Some(reader.string()?.to_owned());
        }
        if flags & 0x40 != 0 {
            connect.password = Some(reader.binary()?.to_vec());
        }
        if !reader.is_empty() {
            return Err(Fault::malformed("bytes after a CONNECT"));
        }
        Ok(connect)
    }

    fn read_properties(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut properties = Properties::take(reader, property::CONNECT, USER_PROPERTIES_MAX)?;
        let mut has_data = false;
        while let Some((name, value)) = properties.next_property()? {
            match name {
                id::RECEIVE_MAXIMUM => {
                    self.receive_maximum = u16::try_from(value.number()).unwrap_or(u16::MAX);
                }
                id::MAXIMUM_PACKET_SIZE => self.packet_bytes_max = value.number(),
                id::REQUEST_PROBLEM => self.wants_problem_information = value.number() == 1,
                id::AUTHENTICATION_METHOD => self.has_authentication = true,
                id::AUTHENTICATION_DATA => has_data = true,
                // The session ends with the connection, we send no alias and no response
                // information: the CONNACK says so, whatever the client asks for.
                _ => {}
            }
        }
        if has_data && !self.has_authentication {
            return Err(Fault::protocol("authentication data without a method"));
        }
        Ok(())
    }
}

fn check_flags(flags: u8, version: Version) -> Result<(), Fault> {
    let will_qos = (flags >> 3) & 3;
    if flags & 1 != 0 {
        return Err(Fault::malformed("the reserved flag of CONNECT is set"));
    }
    if will_qos == 3 {
        return Err(Fault::malformed("a will of QoS 3"));
    }
    if flags & 0x04 == 0 && flags & 0x38 != 0 {
        return Err(Fault::malformed("flags of a will without a will"));
    }
    if version == Version::V311 && flags & 0xc0 == 0x40 {
        return Err(Fault::malformed("a password without a user name"));
    }
    Ok(())
}

fn check_will(reader: &mut Reader<'_>, version: Version) -> Result<(), Fault> {
    if version == Version::V5 {
        Properties::take(reader, property::WILL, USER_PROPERTIES_MAX)?.skip()?;
    }
    let topic = reader.string()?;
    if topic.is_empty() || topic.contains(['+', '#']) {
        return Err(Fault::protocol("the will's topic is no topic name"));
    }
    reader.binary()?;
    Ok(())
}
