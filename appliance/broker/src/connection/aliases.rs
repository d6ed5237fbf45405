//! Topic aliases that the client set.
//!
//! **Invariants**: an alias is 1 to the announced maximum; one that was not set is refused; memory
//! is allocated when an alias gets a topic, not when it is used.

use crate::codec::{Fault, reason};

/// The aliases of one connection.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    topics: Vec<String>,
}

impl Aliases {
    /// The topic that a publish means.
    #[inline]
    pub(crate) fn resolve<'a>(
        &'a mut self,
        topic: &'a str,
        alias: Option<u16>,
        alias_max: u16,
    ) -> Result<&'a str, Fault> {
        let Some(alias) = alias else { return Ok(topic) };
        if alias == 0 || alias > alias_max {
            return Err(Fault {
                code: reason::TOPIC_ALIAS_INVALID,
                what: "a topic alias of 0 or above the maximum",
            });
        }
        let place = usize::from(alias) - 1;
        if topic.is_empty() {
            return match self.topics.get(place) {
                Some(known) if !known.is_empty() => Ok(known),
                _ => Err(Fault::protocol("a topic alias that was not set")),
            };
        }
        if self.topics.len() <= place {
            self.topics.resize(place + 1, String::new());
        }
        if let Some(known) = self.topics.get_mut(place)
            && known != topic
        {
            topic.clone_into(known);
        }
        Ok(topic)
    }
}
