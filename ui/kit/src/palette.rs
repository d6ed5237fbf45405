//! The command palette: everything that can be done, found by typing a part of its name.
//!
//! **Invariants**
//! - What is typed is compared word by word and without regard to case; the best match is first.
//! - The list shows at most [`SHOWN_MAX`] entries.

use crate::rows::Move;
use leptos::html;
use leptos::prelude::*;

/// Entries shown at once.
pub const SHOWN_MAX: usize = 12;

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Names it, for the program.
    pub key: String,
    /// What it does.
    pub text: String,
    /// Its keys, or where it leads.
    pub hint: String,
}

/// The palette. It stands in a [`crate::Dialog`].
#[component]
pub fn Palette(
    /// What to type.
    #[prop(into)]
    label: Signal<String>,
    /// Everything that can be done.
    #[prop(into)]
    commands: Signal<Vec<Command>>,
    /// What is said when nothing fits.
    #[prop(into)]
    nothing: Signal<String>,
    /// What happens with the key of what was chosen.
    #[prop(into)]
    on_choose: Callback<String>,
) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let active = RwSignal::new(0_usize);
    let input = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            let _unfocused = input.focus().is_err();
        }
    });
    let found = Memo::new(move |_| commands.with(|all| typed.with(|typed| matching(all, typed))));
    let choose = move |at: usize| {
        if let Some(command) = found.with_untracked(|found| found.get(at).cloned()) {
            on_choose.run(command.key);
        }
    };
    let press = move |event: leptos::ev::KeyboardEvent| {
        let key = event.key();
        if key == "Enter" {
            event.prevent_default();
            choose(active.get_untracked());
        } else if let Some(step @ (Move::Up | Move::Down)) = Move::of_key(&key) {
            event.prevent_default();
            let count = found.with_untracked(Vec::len);
            let aim = step.from(Some(active.get_untracked()), count, count);
            active.set(aim.unwrap_or(0));
        }
    };
    let lines = move || {
        let line = move |(at, command): (usize, Command)| {
            view! {
                <li
                    class="palette-entry"
                    class:menu-active=move || active.get() == at
                    role="option"
                    aria-selected=move || (active.get() == at).to_string()
                    on:click=move |_| choose(at)
                >
                    <span>{command.text}</span>
                    <span class="palette-hint">{command.hint}</span>
                </li>
            }
        };
        found.get().into_iter().enumerate().map(line).collect_view()
    };
    let retype = move |event| {
        typed.set(event_target_value(&event));
        active.set(0);
    };
    view! {
        <div class="palette" on:keydown=press>
            <input class="field-input" node_ref=input aria-label=label placeholder=label spellcheck="false" prop:value=typed on:input=retype/>
            <ul class="palette-list" role="listbox" aria-label=label>{lines}</ul>
            <Show when=move || found.with(Vec::is_empty)>
                <p class="muted">{nothing}</p>
            </Show>
        </div>
    }
}

/// What fits, the best first: every word that was typed is in the text; words that begin one count more.
fn matching(all: &[Command], typed: &str) -> Vec<Command> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, &Command)> = all
        .iter()
        .filter_map(|command| Some((score(&command.text.to_lowercase(), &words)?, command)))
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(SHOWN_MAX).map(|(_, command)| command.clone()).collect()
}

fn score(text: &str, words: &[String]) -> Option<usize> {
    words.iter().try_fold(0, |score, word| {
        let at = text.find(word.as_str())?;
        let begins_a_word =
            text.get(..at).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
        Some(score + 1 + usize::from(begins_a_word) + usize::from(at == 0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Vec<String> {
        let all = ["Overview", "Pipelines", "New pipeline", "Sign out"];
        let all: Vec<Command> = all
            .iter()
            .map(|text| Command {
                key: String::new(),
                text: (*text).to_owned(),
                hint: String::new(),
            })
            .collect();
        matching(&all, typed).into_iter().map(|command| command.text).collect()
    }

    #[test]
    fn the_best_match_is_first() {
        assert_eq!(found("pipe"), ["Pipelines", "New pipeline"]);
        assert_eq!(found("pipe new"), ["New pipeline"]);
        assert_eq!(found("OUT"), ["Sign out"]);
    }

    #[test]
    fn everything_is_there_before_something_is_typed() {
        assert_eq!(found("").len(), 4);
        assert_eq!(found("zzz"), Vec::<String>::new());
    }
}
