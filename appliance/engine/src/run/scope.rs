//! Scopes of a run: which tokens belong together, and whose end is awaited.
//!
//! **Invariants**: a scope's count is the number of tokens that stand or wait in it; an inner
//! scope is held by the waiting token of the step that opened it.

use millrace_flow::Data;

/// So deep may loops, guards and calls lie in one another.
pub(super) const DEPTH_MAX: u32 = 100;

/// Why a scope is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The run.
    Run,
    /// Item number `place` of the `foreach` that waits as `wait`.
    Item { wait: u32, place: u32 },
    /// The guarded branch of a `try`.
    Guard { wait: u32 },
    /// A called pipeline.
    Called { wait: u32 },
}

impl Role {
    /// The wait that is held until the scope ends.
    pub(super) fn wait(self) -> Option<u32> {
        match self {
            Self::Run => None,
            Self::Item { wait, .. } | Self::Guard { wait } | Self::Called { wait } => Some(wait),
        }
    }
}

/// One scope.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) parent: Option<u32>,
    pub(super) frame: u16,
    /// How many scopes it lies in.
    pub(super) depth: u32,
    pub(super) role: Role,
    pub(super) live: u32,
    /// What a step in it gave last.
    pub(super) last: Data,
}

impl Scope {
    pub(super) fn new(role: Role, frame: u16, last: Data) -> Self {
        Self { parent: None, frame, depth: 0, role, live: 0, last }
    }
}

/// All scopes of a run; numbers of closed ones are used again.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    places: Vec<Option<Scope>>,
    free: Vec<u32>,
}

impl Scopes {
    pub(super) fn open(&mut self, scope: Scope) -> u32 {
        if let Some(number) = self.free.pop()
            && let Some(place) = self.places.get_mut(number as usize)
        {
            *place = Some(scope);
            return number;
        }
        self.places.push(Some(scope));
        u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
    }

    /// Opens a scope within another.
    pub(super) fn open_in(&mut self, parent: u32, mut scope: Scope) -> u32 {
        scope.parent = Some(parent);
        scope.depth = self.get(parent).map_or(0, |parent| parent.depth + 1);
        self.open(scope)
    }

    /// Whether a scope lies so deep that none may be opened in it.
    pub(super) fn is_deepest(&self, number: u32) -> bool {
        self.get(number).is_some_and(|scope| scope.depth >= DEPTH_MAX)
    }

    pub(super) fn close(&mut self, number: u32) -> Option<Scope> {
        let scope = self.places.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(scope)
    }

    pub(super) fn get(&self, number: u32) -> Option<&Scope> {
        self.places.get(number as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Scope> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    /// One more token is in it.
    pub(super) fn hold(&mut self, number: u32) {
        if let Some(scope) = self.get_mut(number) {
            scope.live += 1;
        }
    }

    /// One token less is in it; gives how many are left.
    pub(super) fn release(&mut self, number: u32) -> u32 {
        match self.get_mut(number) {
            Some(scope) => {
                scope.live = scope.live.saturating_sub(1);
                scope.live
            }
            None => 0,
        }
    }

    /// The numbers of all scopes that were opened, directly or not, by a waiting token.
    pub(super) fn opened_by(&self, wait: u32) -> Vec<u32> {
        let numbers = (0u32..).zip(&self.places);
        let open = numbers.filter_map(|(number, place)| place.as_ref().map(|_| number));
        open.filter(|number| self.is_inside(*number, wait)).collect()
    }

    fn is_inside(&self, number: u32, wait: u32) -> bool {
        let mut at = self.get(number);
        while let Some(scope) = at {
            if scope.role.wait() == Some(wait) {
                return true;
            }
            at = scope.parent.and_then(|parent| self.get(parent));
        }
        false
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Option<&Scope>)> {
        (0u32..).zip(self.places.iter().map(Option::as_ref))
    }

    /// Rebuilds from places as they were.
    pub(super) fn from_places(places: Vec<Option<Scope>>) -> Self {
        let free = (0u32..)
            .zip(&places)
            .filter_map(|(number, place)| place.is_none().then_some(number))
            .collect();
        Self { places, free }
    }
}
