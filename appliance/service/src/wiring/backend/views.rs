//! Views of trends: of each person alone, in a setting of the catalog.
//!
//! **Invariants**: a person has at most `VIEWS_MAX` views in `VIEWS_BYTES_MAX` bytes; of two changes
//! at once none is lost.

use super::access::{actor, change_fault};
use super::{Answers, failed};
use millrace_access::ChangeError;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::limits::{VIEWS_BYTES_MAX, VIEWS_MAX};
use millrace_contract::v1;

/// Under which setting a person's views are kept.
fn place(person: &str) -> String {
    format!("views/{person}")
}

/// What was kept; what cannot be read is none.
fn read(text: Option<&str>) -> Vec<v1::TrendView> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Why views stay as they are.
enum Refused {
    Change(ChangeError),
    Fault(Fault),
}

impl From<ChangeError> for Refused {
    fn from(error: ChangeError) -> Self {
        Self::Change(error)
    }
}

fn write(views: &[v1::TrendView]) -> Result<String, Refused> {
    let conflict = |message: String| Refused::Fault(Fault::Conflict(message));
    if views.len() > VIEWS_MAX {
        return Err(conflict(format!("you keep {VIEWS_MAX} views already; remove one first")));
    }
    let text = serde_json::to_string(views)
        .map_err(|error| Refused::Fault(Fault::Internal(format!("write views: {error}"))))?;
    if text.len() > VIEWS_BYTES_MAX {
        let most = VIEWS_BYTES_MAX >> 10;
        return Err(conflict(format!("your views are above {most} KiB; remove one first")));
    }
    Ok(text)
}

impl Answers {
    pub(super) fn views_of(&self, person: &str) -> Vec<v1::TrendView> {
        read(self.0.access.setting(&place(person)).as_deref())
    }

    pub(super) fn kept_view(
        &self,
        person: &str,
        view: v1::TrendView,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::TrendView, Fault>> {
        let kept = view.clone();
        let name = view.name.clone();
        self.change_views(person, ("view.keep", &name), by, view, |views| {
            views.retain(|one| one.name != kept.name);
            let at = views.partition_point(|one| one.name < kept.name);
            views.insert(at, kept);
            Ok(())
        })
    }

    pub(super) fn removed_view(
        &self,
        person: &str,
        name: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        self.change_views(person, ("view.remove", name), by, (), |views| {
            let before = views.len();
            views.retain(|one| one.name != name);
            if views.len() == before {
                return Err(Fault::NotFound("There is no such view.".to_owned()));
            }
            Ok(())
        })
    }

    fn change_views<T: Send + 'static>(
        &self,
        person: &str,
        (action, subject): (&str, &str),
        by: &api::Actor,
        result: T,
        change: impl FnOnce(&mut Vec<v1::TrendView>) -> Result<(), Fault>,
    ) -> api::BoxFuture<Result<T, Fault>> {
        let access = &self.0.access;
        let prepared = access.change_setting(&place(person), |before| {
            let mut views = read(before);
            change(&mut views).map_err(Refused::Fault)?;
            write(&views)
        });
        match prepared {
            Err(Refused::Change(error)) => failed(change_fault(error)),
            Err(Refused::Fault(fault)) => failed(fault),
            Ok(setting) => {
                let audit = access.audit(&actor(by), action, subject);
                self.durable(vec![setting, audit], result)
            }
        }
    }
}
