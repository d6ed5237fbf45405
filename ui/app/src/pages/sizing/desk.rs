//! What the page remembers: the plan, the profile, the estimate.
//!
//! **Invariants**
//! - The estimate in sight is that of the last plan that could be computed with; [`Desk::is_old`]
//!   says when that is not the one in the fields.
//! - The plan is kept on this machine, so that a reload loses nothing.

use super::entries::Part;
use super::sheet::Sheet;
use crate::context::Studio;
use crate::host::Kept;
use leptos::prelude::*;
use millrace_sizing::{Estimate, Plan, Problem, Profile, estimate};
use std::sync::Arc;

/// Where the plan is kept.
const PLACE: Kept = Kept::Page("millrace.sizing-plan");
/// The profile that the page begins with.
const PROFILE: &str = "millrace";
/// The profile that a calibration has measured.
pub(super) const BOX_PROFILE: &str = "box";

type Answer = Result<Arc<Estimate>, Vec<Problem>>;

/// The page's state.
#[derive(Clone, Copy)]
pub(super) struct Desk {
    studio: StoredValue<Studio>,
    /// The plan as it is edited.
    pub(super) sheet: RwSignal<Sheet>,
    /// The name of the profile that is chosen.
    pub(super) profile_name: RwSignal<String>,
    /// What a calibration of this appliance has measured.
    pub(super) measured: RwSignal<Option<Arc<Profile>>>,
    /// The figures that are used.
    pub(super) profile: Memo<Option<Arc<Profile>>>,
    answer: Memo<Answer>,
    /// The estimate in sight.
    pub(super) shown: RwSignal<Option<Arc<Estimate>>>,
    /// The group that was just added: its name takes the focus.
    pub(super) added: RwSignal<Option<u64>>,
    /// The plan that another one has replaced.
    pub(super) previous: RwSignal<Option<Plan>>,
    /// Moves when another plan was opened.
    pub(super) loaded: RwSignal<u64>,
    /// Moves when the appliance's stored plan was changed here.
    pub(super) stored: RwSignal<u64>,
}

impl Desk {
    /// Begins with what was kept, or with the published example.
    pub(super) fn open(studio: &Studio) -> Self {
        let kept = studio.host.kept(PLACE);
        let plan = kept.and_then(|text| serde_json::from_str::<Plan>(&text).ok());
        let sheet = RwSignal::new(Sheet::of(plan.unwrap_or_else(Plan::example)));
        let profile_name = RwSignal::new(PROFILE.to_owned());
        let measured = RwSignal::new(None::<Arc<Profile>>);
        let profile = Memo::new(move |_| match profile_name.get().as_str() {
            BOX_PROFILE => measured.get(),
            name => Profile::named(name).ok().map(Arc::new),
        });
        let answer = Memo::new(move |_| {
            let plan = sheet.with(Sheet::plan);
            profile.with(|profile| match profile {
                Some(profile) => estimate(&plan, profile).map(Arc::new),
                None => Err(Vec::new()),
            })
        });
        let shown = RwSignal::new(None);
        let host = studio.host.clone();
        Effect::new(move |_| {
            let Ok(found) = answer.get() else { return };
            shown.set(Some(found));
            let plan = sheet.with_untracked(Sheet::plan);
            if let Ok(text) = serde_json::to_string(&plan) {
                host.keep(PLACE, Some(&text));
            }
        });
        Self {
            studio: StoredValue::new(studio.clone()),
            sheet,
            profile_name,
            measured,
            profile,
            answer,
            shown,
            added: RwSignal::new(None),
            previous: RwSignal::new(None),
            loaded: RwSignal::new(0),
            stored: RwSignal::new(0),
        }
    }

    /// The desk around this part of the page.
    pub(super) fn here() -> Self {
        expect_context()
    }

    pub(super) fn studio(self) -> Studio {
        self.studio.get_value()
    }

    /// The plan in the fields, faults and all.
    pub(super) fn plan(self) -> Plan {
        self.sheet.with_untracked(Sheet::plan)
    }

    /// Another plan in the place of this one.
    pub(super) fn replace(self, plan: Plan) {
        self.added.set(None);
        self.previous.set(Some(self.plan()));
        self.sheet.update(|sheet| sheet.replace(plan));
        self.loaded.update(|count| *count += 1);
    }

    /// Changes one part.
    pub(super) fn change<T: Part>(self, id: u64, change: impl FnOnce(&mut T)) {
        self.sheet.update(|sheet| {
            if let Some(part) = T::find_mut(sheet, id) {
                change(part);
            }
        });
    }

    /// Everything that is wrong with the plan.
    pub(super) fn problems(self) -> Vec<Problem> {
        self.answer.with(|answer| answer.as_ref().err().cloned().unwrap_or_default())
    }

    /// What is wrong at a field: `devices[0].count`.
    pub(super) fn fault_at(self, path: &str) -> Option<String> {
        self.answer.with(|answer| {
            let problems = answer.as_ref().err()?;
            problems.iter().find(|fault| fault.at == path).map(|fault| fault.sentence.clone())
        })
    }

    /// Whether the estimate in sight is not of the plan in the fields.
    pub(super) fn is_old(self) -> bool {
        self.answer.with(Result::is_err)
    }
}
