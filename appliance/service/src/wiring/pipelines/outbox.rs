//! The engine's way into the journal, through admission.
//!
//! An outbox holds a session of the gate for each workspace that its worker has published into.
//! What pipelines derive is the box's own: admission checks shape, schema and time as for every
//! other value, and counts it in the ledger, but no rate holds it.
//!
//! **Invariants**: the effects of a run are in one session, so in one append.

use millrace_admission::Mark as SessionMark;
use millrace_admission::{Client, Decision, Gate, Session, Submitted, THE_BOX};
use millrace_catalog::Namespace;
use millrace_engine::{Mark, Outbox, Outboxes, Sent, Source};
use millrace_journal::Registration;
use millrace_model::{Filter, Record, WorkspaceNumber};
use std::sync::Arc;
use std::task::Waker;

/// How the box calls itself in refusals.
const NAME: &str = "pipelines";

/// Opens outboxes.
pub(in crate::wiring) struct Doors {
    pub(in crate::wiring) gate: Arc<Gate>,
    pub(in crate::wiring) namespace: Arc<Namespace>,
}

impl Outboxes for Doors {
    fn open(&self) -> Box<dyn Outbox> {
        Box::new(Desk {
            gate: Arc::clone(&self.gate),
            namespace: Arc::clone(&self.namespace),
            seats: Vec::new(),
            current: 0,
            run: None,
            batch: None,
        })
    }
}

struct Desk {
    gate: Arc<Gate>,
    namespace: Arc<Namespace>,
    seats: Vec<Seat>,
    /// The seat of the run whose effects come.
    current: usize,
    /// Marks with their seats.
    run: Option<(usize, SessionMark)>,
    batch: Option<(usize, SessionMark)>,
}

struct Seat {
    workspace: u16,
    session: Session,
    registration: Registration,
    /// Whether clocks and generations were read since the last submit.
    has_begun: bool,
}

impl Desk {
    fn place(&mut self, mark: Mark) -> &mut Option<(usize, SessionMark)> {
        match mark {
            Mark::Run => &mut self.run,
            Mark::Batch => &mut self.batch,
        }
    }

    fn seat(&mut self, workspace: u16) -> usize {
        if let Some(found) = self.seats.iter().position(|seat| seat.workspace == workspace) {
            return found;
        }
        let number = WorkspaceNumber(workspace);
        let known = self.namespace.workspace_by_number(number);
        let client = Client {
            number: THE_BOX,
            id: NAME.to_owned(),
            workspace: number,
            workspace_name: known.map(|known| known.name.clone()).unwrap_or_default(),
            publish: Filter::new("#").into_iter().collect(),
            may_create: true,
            retention: None,
            rate_per_s: Some(0),
        };
        let session = self.gate.open(Arc::new(client));
        let registration = Registration::default();
        self.seats.push(Seat { workspace, session, registration, has_begun: false });
        self.seats.len() - 1
    }
}

impl Outbox for Desk {
    fn begin(&mut self, source: Source) {
        self.current = self.seat(source.workspace);
        if let Some(seat) = self.seats.get_mut(self.current) {
            if !std::mem::replace(&mut seat.has_begun, true) {
                seat.session.begin();
            }
            seat.session.set_hops(source.hops);
        }
    }

    fn publish(&mut self, path: &str, payload: &[u8]) -> Result<(), String> {
        let Some(seat) = self.seats.get_mut(self.current) else {
            return Err("there is no such workspace".to_owned());
        };
        let refusal = match seat.session.offer_path(path, payload) {
            Decision::Stored { .. } => return Ok(()),
            Decision::Refused(refusal) => Some(refusal),
            Decision::Batch(batch) => batch.first_refusal().cloned(),
        };
        refusal.map_or(Ok(()), |refusal| Err(refusal.sentence().to_owned()))
    }

    fn mark(&mut self, mark: Mark) {
        let session = self.seats.get(self.current).map(|seat| seat.session.mark());
        *self.place(mark) = session.map(|session| (self.current, session));
    }

    fn undo(&mut self, mark: Mark) {
        let Some((seat, mark)) = self.place(mark).take() else { return };
        if let Some(seat) = self.seats.get_mut(seat) {
            seat.session.undo(&mark);
        }
    }

    fn push(&mut self, record: &Record<'_>) {
        if let Some(seat) = self.seats.get_mut(self.current) {
            seat.session.push_record(record);
        }
    }

    fn bytes(&self) -> usize {
        self.seats.iter().map(|seat| seat.session.collected_bytes()).sum()
    }

    fn submit(&mut self, waker: &Waker) -> Sent {
        (self.run, self.batch) = (None, None);
        let mut sent = Sent::Empty;
        for seat in &mut self.seats {
            match seat.session.submit(waker, &mut seat.registration) {
                Submitted::Queued(range) => sent = Sent::Queued(range),
                Submitted::Empty => {}
                // What was appended before it stays appended; the rest is tried again.
                Submitted::Full => return Sent::Full,
                Submitted::Closed => return Sent::Closed,
            }
            seat.has_begun = false;
        }
        sent
    }
}
