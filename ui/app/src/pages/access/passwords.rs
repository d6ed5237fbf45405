//! A new password, typed twice.
//!
//! **Invariants**
//! - It is sent only when both are the same and long enough; the appliance checks again.

use super::some;
use crate::words::{Language, Message, access, t};
use leptos::prelude::*;
use millrace_kit::{Field, FieldKind};

/// Least characters of a password; the appliance asks for the same.
const CHARACTERS_MIN: usize = 10;

/// What is typed and what is wrong with it.
#[derive(Clone, Copy)]
pub(super) struct Passwords {
    first: RwSignal<String>,
    again: RwSignal<String>,
    /// What is wrong with the password.
    pub(super) fault: RwSignal<Option<String>>,
    again_fault: RwSignal<Option<String>>,
}

impl Passwords {
    pub(super) fn new() -> Self {
        let (text, none) = (|| RwSignal::new(String::new()), || RwSignal::new(None));
        Self { first: text(), again: text(), fault: none(), again_fault: none() }
    }

    /// The password, if it will do; else says why not at its field.
    pub(super) fn checked(self, language: Language) -> Option<String> {
        let first = self.first.get_untracked();
        let (fault, again_fault) = judge(&first, &self.again.get_untracked());
        self.fault.set(fault.map(|message| language.say(message)));
        self.again_fault.set(again_fault.map(|message| language.say(message)));
        (fault.is_none() && again_fault.is_none()).then_some(first)
    }
}

fn judge(first: &str, again: &str) -> (Option<Message>, Option<Message>) {
    let is_short = first.chars().count() < CHARACTERS_MIN;
    (is_short.then_some(access::SHORT), (first != again).then_some(access::DIFFERENT))
}

/// Both fields.
#[component]
pub(super) fn PasswordFields(passwords: Passwords) -> impl IntoView {
    view! {
        <Field
            label=t(access::PASSWORD)
            value=passwords.first
            kind=FieldKind::Password
            help=some(access::PASSWORD_HELP)
            fault=passwords.fault
            autocomplete="new-password"
        />
        <Field
            label=t(access::AGAIN)
            value=passwords.again
            kind=FieldKind::Password
            fault=passwords.again_fault
            autocomplete="new-password"
        />
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_enough_and_typed_twice() {
        assert_eq!(judge("correct horse", "correct horse"), (None, None));
        // Ten characters, not ten bytes.
        assert_eq!(judge("äöüäöüäöüä", "äöüäöüäöüä"), (None, None));
        assert_eq!(judge("short", "short"), (Some(access::SHORT), None));
        assert_eq!(judge("correct horse", "correct hose"), (None, Some(access::DIFFERENT)));
    }
}
