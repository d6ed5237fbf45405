//! Actions: everything that can be done, by name, whatever does it: a key, a menu, the palette.
//!
//! **Invariants**: every action has a word for key maps, a name for menus and a sentence for help
//! and screen readers; words are unique.

use crate::snap::Alignment;

/// A direction on the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
}

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Takes back.
    Undo,
    /// Does again.
    Redo,
    /// Ends what is going on.
    Cancel,
    /// Selects all steps.
    SelectAll,
    /// Selects what leads to the selected steps.
    SelectUpstream,
    /// Selects what the selected steps lead to.
    SelectDownstream,
    /// Removes.
    Delete,
    /// Removes and joins what was on both sides.
    DeleteAndReconnect,
    /// Copies.
    Copy,
    /// Copies and removes.
    Cut,
    /// Pastes.
    Paste,
    /// Copies and pastes.
    Duplicate,
    /// Goes to the nearest step.
    Go(Side),
    /// Goes to the next step in reading order.
    Next,
    /// Goes to the step before.
    Previous,
    /// Moves the selected steps by one grid.
    Move(Side),
    /// Opens the current step's fields.
    Edit,
    /// Starts a wire from the current step.
    Connect,
    /// Adds a step behind the current one.
    QuickAdd,
    /// Switches the selected steps off or on.
    ToggleDisabled,
    /// Lines the selected steps up.
    Align(Alignment),
    /// Arranges all steps, or the selected ones.
    Arrange,
    /// Closer.
    ZoomIn,
    /// Farther.
    ZoomOut,
    /// Back to 100 %.
    ResetZoom,
    /// Shows everything.
    Fit,
    /// Moves the canvas.
    Pan(Side),
    /// Opens the list of commands.
    Palette,
    /// Opens the search.
    Search,
    /// Shows the keys.
    ShowKeys,
    /// Tests the current step.
    TestStep,
    /// Tests everything up to the current step.
    TestUpstream,
    /// Shows the next fault.
    NextFault,
    /// Keeps the draft.
    Save,
    /// Starts a deployment.
    Deploy,
    /// Stops and starts live values.
    Freeze,
}

/// What is said about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    /// The action.
    pub action: Action,
    /// Its word in key maps and catalogues.
    pub word: &'static str,
    /// Its name in menus.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
}

const fn spec(
    action: Action,
    word: &'static str,
    name: &'static str,
    sentence: &'static str,
) -> ActionSpec {
    ActionSpec { action, word, name, sentence }
}

/// All actions, in the order of the list of commands.
pub const ALL: &[ActionSpec] = &[
    spec(Action::QuickAdd, "quick_add", "Add step", "Adds a step behind the current one."),
    spec(Action::Connect, "connect", "Connect", "Starts a wire from the current step."),
    spec(Action::Edit, "edit", "Edit step", "Opens the current step's fields."),
    spec(
        Action::ToggleDisabled,
        "toggle_disabled",
        "Switch off or on",
        "Switches the selected steps off, so that they pass their input on, or on again.",
    ),
    spec(Action::Undo, "undo", "Undo", "Takes the last change back."),
    spec(Action::Redo, "redo", "Redo", "Does again what was taken back last."),
    spec(Action::Copy, "copy", "Copy", "Copies the selected steps."),
    spec(Action::Cut, "cut", "Cut", "Copies the selected steps and removes them."),
    spec(Action::Paste, "paste", "Paste", "Adds the copied steps."),
    spec(Action::Duplicate, "duplicate", "Duplicate", "Adds the selected steps once more."),
    spec(Action::Delete, "delete", "Delete", "Removes the selected steps and wires."),
    spec(
        Action::DeleteAndReconnect,
        "delete_and_reconnect",
        "Delete and reconnect",
        "Removes the selected steps and joins what was before with what was behind them.",
    ),
    spec(Action::SelectAll, "select_all", "Select all", "Selects all steps."),
    spec(
        Action::SelectUpstream,
        "select_upstream",
        "Select upstream",
        "Selects everything that leads to the selected steps.",
    ),
    spec(
        Action::SelectDownstream,
        "select_downstream",
        "Select downstream",
        "Selects everything that the selected steps lead to.",
    ),
    spec(Action::Cancel, "cancel", "Cancel", "Ends what is going on and changes nothing."),
    spec(Action::Go(Side::Left), "go_left", "Step to the left", "Goes to the nearest step left."),
    spec(
        Action::Go(Side::Right),
        "go_right",
        "Step to the right",
        "Goes to the nearest step right.",
    ),
    spec(Action::Go(Side::Up), "go_up", "Step above", "Goes to the nearest step above."),
    spec(Action::Go(Side::Down), "go_down", "Step below", "Goes to the nearest step below."),
    spec(Action::Next, "next", "Next step", "Goes to the next step in reading order."),
    spec(Action::Previous, "previous", "Previous step", "Goes to the step before."),
    spec(Action::Move(Side::Left), "move_left", "Move left", "Moves the selected steps left."),
    spec(Action::Move(Side::Right), "move_right", "Move right", "Moves the selected steps right."),
    spec(Action::Move(Side::Up), "move_up", "Move up", "Moves the selected steps up."),
    spec(Action::Move(Side::Down), "move_down", "Move down", "Moves the selected steps down."),
    spec(
        Action::Align(Alignment::Left),
        "align_left",
        "Align left",
        "Puts the left sides of the selected steps in one line.",
    ),
    spec(
        Action::Align(Alignment::Right),
        "align_right",
        "Align right",
        "Puts the right sides of the selected steps in one line.",
    ),
    spec(
        Action::Align(Alignment::Top),
        "align_top",
        "Align top",
        "Puts the upper sides of the selected steps in one line.",
    ),
    spec(
        Action::Align(Alignment::Bottom),
        "align_bottom",
        "Align bottom",
        "Puts the lower sides of the selected steps in one line.",
    ),
    spec(
        Action::Align(Alignment::Middle),
        "align_middle",
        "Align middles",
        "Puts the middles of the selected steps on one horizontal line.",
    ),
    spec(
        Action::Align(Alignment::Center),
        "align_center",
        "Align centers",
        "Puts the middles of the selected steps on one vertical line.",
    ),
    spec(
        Action::Align(Alignment::Horizontal),
        "distribute_horizontal",
        "Distribute horizontally",
        "Makes the gaps between the selected steps equal from left to right.",
    ),
    spec(
        Action::Align(Alignment::Vertical),
        "distribute_vertical",
        "Distribute vertically",
        "Makes the gaps between the selected steps equal from top to bottom.",
    ),
    spec(
        Action::Arrange,
        "arrange",
        "Arrange",
        "Arranges the selected steps, or all, in columns from the triggers on.",
    ),
    spec(Action::ZoomIn, "zoom_in", "Zoom in", "Shows less and larger."),
    spec(Action::ZoomOut, "zoom_out", "Zoom out", "Shows more and smaller."),
    spec(Action::ResetZoom, "reset_zoom", "100 %", "Shows steps in their own size."),
    spec(Action::Fit, "fit", "Show all", "Shows the whole pipeline."),
    spec(Action::Pan(Side::Left), "pan_left", "Look left", "Shows what lies to the left."),
    spec(Action::Pan(Side::Right), "pan_right", "Look right", "Shows what lies to the right."),
    spec(Action::Pan(Side::Up), "pan_up", "Look up", "Shows what lies above."),
    spec(Action::Pan(Side::Down), "pan_down", "Look down", "Shows what lies below."),
    spec(Action::TestStep, "test_step", "Test step", "Runs the current step alone."),
    spec(
        Action::TestUpstream,
        "test_upstream",
        "Test up to here",
        "Runs everything up to the current step.",
    ),
    spec(Action::NextFault, "next_fault", "Next fault", "Goes to the next fault."),
    spec(Action::Save, "save", "Save draft", "Keeps the draft without deploying it."),
    spec(Action::Deploy, "deploy", "Deploy", "Shows what would change, and deploys."),
    spec(Action::Freeze, "freeze", "Freeze values", "Stops live values, or lets them go on."),
    spec(Action::Search, "search", "Search", "Finds steps, topics and commands."),
    spec(Action::Palette, "palette", "Commands", "Lists all commands."),
    spec(Action::ShowKeys, "show_keys", "Keys", "Shows what the keys do."),
];

impl Action {
    /// What is said about it.
    #[must_use]
    pub fn spec(self) -> &'static ActionSpec {
        // A test holds that every action is in the table.
        ALL.iter().find(|spec| spec.action == self).unwrap_or(&UNKNOWN)
    }

    /// The action of this word.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        ALL.iter().find(|spec| spec.word == word).map(|spec| spec.action)
    }
}

static UNKNOWN: ActionSpec = spec(Action::Cancel, "", "", "");

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_action_is_told_once() {
        let words: BTreeSet<_> = ALL.iter().map(|spec| spec.word).collect();
        let actions: BTreeSet<_> = ALL.iter().map(|spec| spec.action).collect();
        assert_eq!((words.len(), actions.len()), (ALL.len(), ALL.len()));
        for spec in ALL {
            assert!(spec.sentence.ends_with('.') && !spec.name.is_empty(), "{spec:?}");
            assert_eq!(Action::find(spec.word), Some(spec.action));
            assert_eq!(spec.action.spec(), spec);
        }
        assert_eq!(Action::find("nothing"), None);
        // A new action that is not in the table would be found here.
        assert_eq!(ALL.len(), 52);
    }
}
