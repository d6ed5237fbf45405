//! Sign-in, gate and journal in one, moved by the test.
//!
//! A payload tells its own fate: `refuse` is over the rate, `bad` is no value, `batch` is a batch
//! of which the second of three elements is refused, `none` one of which both are; anything else
//! is stored.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use millrace_journal::{Registration, Seq, SeqRange};
use millrace_model::{ClientNumber, Filter, Reason, Refusal};
use parking_lot::Mutex;

use crate::ingest::*;

pub(super) struct Plant {
    me: Weak<Self>,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) offered: Vec<(String, Vec<u8>)>,
    pub(super) refused: Vec<(String, Refusal)>,
    pub(super) submits: usize,
    pub(super) begins: usize,
    pub(super) is_full: bool,
    /// Whether each submit is durable at once.
    pub(super) is_prompt: bool,
    pub(super) revoke_during_sign_in: bool,
    last: u64,
    durable: u64,
    waiting: Vec<(u64, Waker)>,
    waiting_for_space: Vec<Waker>,
}

impl Plant {
    pub(super) fn new() -> Arc<Self> {
        Arc::new_cyclic(|me| Self { me: me.clone(), state: Mutex::default() })
    }

    fn me(&self) -> Arc<Self> {
        self.me.upgrade().unwrap()
    }

    /// Makes everything up to `seq` durable.
    pub(super) fn commit_to(&self, seq: u64) {
        let wakers = {
            let mut state = self.state.lock();
            state.durable = state.durable.max(seq);
            let durable = state.durable;
            let (done, waiting) = std::mem::take(&mut state.waiting)
                .into_iter()
                .partition::<Vec<_>, _>(|(last, _)| *last <= durable);
            state.waiting = waiting;
            done
        };
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Makes everything durable.
    pub(super) fn commit(&self) {
        let last = self.state.lock().last;
        self.commit_to(last);
    }

    pub(super) fn make_room(&self) {
        let wakers = {
            let mut state = self.state.lock();
            state.is_full = false;
            std::mem::take(&mut state.waiting_for_space)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn offered(&self) -> usize {
        self.state.lock().offered.len()
    }
}

impl SignIn for Plant {
    fn sign_in(
        &self,
        user: &str,
        password: &[u8],
        _from: SocketAddr,
    ) -> Result<Arc<Grant>, SignInError> {
        match user {
            "revoked" => return Err(SignInError::Revoked),
            "barred" => return Err(SignInError::NotAuthorized),
            "hasty" => {
                let retry_after = Duration::from_secs(60);
                return Err(SignInError::TooManyAttempts { retry_after });
            }
            _ => {}
        }
        if password != b"secret" {
            return Err(SignInError::BadCredentials);
        }
        let number = user.bytes().fold(7u32, |sum, byte| sum * 31 % 65_537 + u32::from(byte));
        let filters = ["press/#", "line/+/speed", "wide/#"].map(|text| Filter::new(text).unwrap());
        let all = if user == "all" { vec![Filter::new("#").unwrap()] } else { filters.to_vec() };
        let grant = Arc::new(Grant::new(ClientNumber(number), user, "main", all));
        if self.state.lock().revoke_during_sign_in {
            grant.revoke();
        }
        Ok(grant)
    }
}

impl Gate for Plant {
    fn open(&self, _grant: &Arc<Grant>) -> Box<dyn IngestSession> {
        Box::new(FakeSession { plant: self.me(), scratch: 0, has_begun: false })
    }
}

impl Durable for Plant {
    fn durable(&self) -> Seq {
        Seq(self.state.lock().durable)
    }

    fn wait_for_space(&self, waker: &Waker) {
        self.state.lock().waiting_for_space.push(waker.clone());
    }
}

struct FakeSession {
    plant: Arc<Plant>,
    scratch: u32,
    has_begun: bool,
}

impl FakeSession {
    fn record(&mut self) -> u32 {
        self.scratch += 1;
        self.scratch - 1
    }
}

impl IngestSession for FakeSession {
    fn begin(&mut self) {
        self.has_begun = true;
        self.plant.state.lock().begins += 1;
    }

    fn offer(&mut self, topic: &str, payload: &[u8]) -> Decision {
        assert!(self.has_begun, "offered before the clock was read");
        self.plant.state.lock().offered.push((topic.to_owned(), payload.to_vec()));
        let rate = || Refusal::plain(Reason::RateLimited);
        match payload {
            b"refuse" => {
                self.record();
                Decision::Refused(rate())
            }
            b"bad" => {
                self.record();
                Decision::Refused(Refusal::with(Reason::PayloadInvalid, "not \"JSON\""))
            }
            b"batch" => {
                let first = self.record();
                let last = self.record();
                let element =
                    |path: &str, verdict| ElementDecision { path: Some(path.into()), verdict };
                Decision::Batch(Box::new(BatchDecision {
                    elements: vec![
                        element("a", Ok(first)),
                        element("b", Err(rate())),
                        ElementDecision { path: None, verdict: Ok(last) },
                    ],
                }))
            }
            b"none" => {
                self.record();
                let element = || ElementDecision { path: None, verdict: Err(rate()) };
                let elements = vec![element(), element()];
                Decision::Batch(Box::new(BatchDecision { elements }))
            }
            _ => Decision::Stored { first_record: self.record() },
        }
    }

    fn refuse(&mut self, topic: &str, _payload_bytes: usize, refusal: &Refusal) {
        self.record();
        self.plant.state.lock().refused.push((topic.to_owned(), refusal.clone()));
    }

    fn submit(&mut self, waker: &Waker, _registration: &mut Registration) -> Submitted {
        let mut state = self.plant.state.lock();
        if state.is_full {
            return Submitted::Full;
        }
        if self.scratch == 0 {
            return Submitted::Empty;
        }
        state.submits += 1;
        let first = Seq(state.last + 1);
        state.last += u64::from(self.scratch);
        let last = state.last;
        state.waiting.push((last, waker.clone()));
        let range = SeqRange { first, count: self.scratch };
        self.scratch = 0;
        if state.is_prompt {
            state.durable = state.last;
        }
        Submitted::Queued(range)
    }
}
