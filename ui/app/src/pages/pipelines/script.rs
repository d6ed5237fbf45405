//! The field of a script: the editor, or a plain field with line numbers where it cannot be loaded.
//!
//! The plain field is there at once; the editor takes its place when it is loaded.
//!
//! **Invariants**
//! - What was typed into the plain field is in the editor, and the focus stays where it was.
//! - Tab leaves the field, as everywhere else.

use super::hints::Hints;
use crate::islands::script::{LineFault, Options, ScriptEditor};
use crate::words::{pipelines, t};
use leptos::html::{Div, Pre, Textarea};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

/// What stands in the page.
#[derive(Clone, PartialEq, Eq)]
enum Stage {
    Loading,
    Editor,
    /// The plain field, and why there is no editor.
    Plain(String),
}

/// The editor, as far as it is there.
#[derive(Clone, Copy)]
struct Stand {
    stage: RwSignal<Stage>,
    editor: StoredValue<Option<ScriptEditor>, LocalStorage>,
}

impl Stand {
    fn new() -> Self {
        Self { stage: RwSignal::new(Stage::Loading), editor: StoredValue::new_local(None) }
    }

    /// Loads the editor and puts it into its element, once that is in the page.
    fn open(
        self,
        host: NodeRef<Div>,
        options: impl FnOnce() -> Option<(JsValue, Options)> + 'static,
        typed: impl Fn(String) + Copy + 'static,
    ) {
        let options = StoredValue::new_local(Some(options));
        Effect::new(move |_| {
            let found = host.get().and_then(|_| options.try_update_value(Option::take)?);
            let Some(options) = found else { return };
            leptos::task::spawn_local(async move {
                match ScriptEditor::open(options, typed).await {
                    Ok(Some(opened)) => {
                        self.editor.try_update_value(|editor| *editor = Some(opened));
                        self.stage.try_set(Stage::Editor);
                    }
                    Ok(None) => {}
                    Err(why) => {
                        self.stage.try_set(Stage::Plain(why));
                    }
                }
            });
        });
    }

    /// Hands on what changes outside of the editor.
    fn follow(
        self,
        value: RwSignal<String>,
        faults: Signal<Vec<(u32, String)>>,
        hints: Option<Signal<Hints>>,
    ) {
        Effect::new(move |_| {
            let text = value.get();
            self.with(|editor| editor.set_text(&text));
        });
        Effect::new(move |_| {
            let faults = faults.get().into_iter().filter(|(line, _)| *line > 0);
            let faults: Vec<_> = faults.map(|(line, text)| LineFault { line, text }).collect();
            self.with(|editor| editor.set_faults(&faults));
        });
        Effect::new(move |_| {
            if let Some(hints) = hints {
                let hints = hints.get();
                self.with(|editor| editor.set_hints(&hints));
            }
        });
    }

    fn with(self, act: impl FnOnce(&ScriptEditor)) {
        if self.stage.get() == Stage::Editor {
            self.editor.with_value(|editor| {
                if let Some(editor) = editor {
                    act(editor);
                }
            });
        }
    }
}

/// A script, statement or any other text of many lines.
#[component]
pub(super) fn Script(
    /// What it is.
    #[prop(into)]
    label: String,
    /// The id of the field, for who jumps to it.
    id: String,
    /// The text.
    value: RwSignal<String>,
    /// Called with each change.
    #[prop(into)]
    on_change: Callback<String>,
    /// Lines at fault, from 1, and what is wrong there; 0 for none in particular.
    #[prop(into)]
    faults: Signal<Vec<(u32, String)>>,
    /// What is offered while it is typed; nothing for what is no script.
    hints: Option<Signal<Hints>>,
    /// Whether it may only be looked at.
    is_read_only: bool,
) -> impl IntoView {
    let language = crate::context::Studio::here().language;
    let stand = Stand::new();
    let stage = stand.stage;
    let host = NodeRef::<Div>::new();
    let typed = move |text: String| {
        // The editor may outlive the form by the length of one call.
        if value.try_set(text.clone()).is_none() {
            on_change.try_run(text);
        }
    };
    let options = {
        let label = label.clone();
        move || {
            let element = host.try_get_untracked().flatten()?;
            let text = value.try_get_untracked()?;
            let options = Options {
                label,
                text,
                is_read_only,
                is_script: hints.is_some(),
                syntax: untrack(|| language.say(pipelines::SCRIPT_SYNTAX)),
                at_line: untrack(|| language.say(pipelines::LINE)),
            };
            Some((element.into(), options))
        }
    };
    stand.open(host, options, typed);
    stand.follow(value, faults, hints);
    let is_editor = Memo::new(move |_| stage.get() == Stage::Editor);
    let why = move || match stage.get() {
        Stage::Plain(why) => language.say_with(pipelines::SCRIPT_PLAIN, &[("why", &why)]),
        Stage::Loading | Stage::Editor => String::new(),
    };
    let listed = move || {
        let is_editor = is_editor.get();
        let mut faults = faults.get();
        faults.retain(|(line, _)| *line == 0 || !is_editor);
        let row = |(line, text): (u32, String)| {
            let place = if line > 0 { format!("{line}: ") } else { String::new() };
            view! { <li class="field-fault">{place}{text}</li> }
        };
        faults.into_iter().map(row).collect_view()
    };
    let plain = {
        let id = id.clone();
        move || {
            let (label, id) = (label.clone(), id.clone());
            (!is_editor.get()).then(|| {
                view! { <Plain label id value on_change=typed faults is_read_only/> }
            })
        }
    };
    let editor_id = move || is_editor.get().then(|| id.clone());
    view! {
        <div class="script-field">
            <div class="script-editor" class:script-ready=is_editor node_ref=host id=editor_id></div>
            {plain}
        </div>
        <p class="field-help" role="status">{why}</p>
        <Show when=move || is_editor.get()><p class="field-help">{t(pipelines::SCRIPT_KEYS)}</p></Show>
        <ul class="script-faults" role="alert">{listed}</ul>
    }
}

/// The plain field.
#[component]
fn Plain(
    label: String,
    id: String,
    value: RwSignal<String>,
    #[prop(into)] on_change: Callback<String>,
    faults: Signal<Vec<(u32, String)>>,
    is_read_only: bool,
) -> impl IntoView {
    let numbers = NodeRef::<Pre>::new();
    let text = NodeRef::<Textarea>::new();
    let scroll = move |_| {
        if let (Some(numbers), Some(text)) = (numbers.get_untracked(), text.get_untracked()) {
            numbers.set_scroll_top(text.scroll_top());
        }
    };
    let lines = move || {
        let count = value.with(|value| value.split('\n').count());
        let faults = faults.get();
        let line = |number: usize| {
            let is_bad = faults.iter().any(|(at, _)| usize::try_from(*at) == Ok(number));
            let class = if is_bad { "script-line script-bad" } else { "script-line" };
            let mark = if is_bad { "!" } else { "" };
            view! { <span class=class>{mark}{number.to_string()}"\n"</span> }
        };
        (1..=count).map(line).collect_view()
    };
    view! {
        <div class="script">
            <pre class="script-numbers" node_ref=numbers aria-hidden="true">{lines}</pre>
            <textarea
                id=id
                class="script-text"
                node_ref=text
                rows="12"
                wrap="off"
                spellcheck="false"
                autocomplete="off"
                aria-label=label
                readonly=is_read_only
                prop:value=value
                on:input=move |event| on_change.run(event_target_value(&event))
                on:scroll=scroll
            ></textarea>
        </div>
    }
}
