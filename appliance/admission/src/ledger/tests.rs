//! The ledger: outcomes, saving and restoring, crashes at every step, readers beside writers.

use super::*;

const PRESS: ClientNumber = ClientNumber(4);
const PUMP: ClientNumber = ClientNumber(9);

#[test]
fn counts_each_outcome_under_its_client() {
    let ledger = Ledger::new();
    let mut applier = Applier::new(Arc::clone(&ledger));
    ledger.client(PRESS).receive(6);
    ledger.client(PUMP).receive(2);
    applier.sample(PRESS, Outcome::Stored);
    applier.sample(PRESS, Outcome::Redelivered);
    ledger.applied_sample(PRESS, Outcome::Superseded);
    applier.refused(PRESS, Reason::WrongKind, 2);
    ledger.applied_refused(PUMP, Reason::RateLimited, 1);

    let press = ledger.client(PRESS).read();
    assert_eq!((press.stored, press.redelivered, press.superseded), (2, 1, 1));
    assert_eq!((press.refused_total(), press.in_flight()), (2, 1));
    let (each, total) = ledger.snapshot();
    assert_eq!(each.iter().map(|(number, _)| number.0).collect::<Vec<_>>(), [4, 9]);
    assert_eq!((total.received, total.in_flight(), ledger.received_total()), (8, 2, 8));
    assert_eq!(total, ledger.totals());
    assert!(total.is_balanced());
}

#[test]
fn a_late_finding_moves_stored_to_redelivered_and_no_more() {
    let ledger = Ledger::new();
    ledger.client(PRESS).receive(2);
    ledger.applied_sample(PRESS, Outcome::Stored);
    ledger.applied_sample(PRESS, Outcome::Stored);
    ledger.reclassify(PRESS, 1);
    ledger.reclassify(PRESS, 7);
    let counts = ledger.totals();
    assert_eq!((counts.stored, counts.redelivered, counts.in_flight()), (0, 2, 0));
}

#[test]
fn a_saved_ledger_comes_back_and_knows_up_to_where() {
    let ledger = Ledger::new();
    ledger.client(PRESS).receive(3);
    ledger.applied_sample(PRESS, Outcome::Stored);
    ledger.applied_refused(PRESS, Reason::NotSupported, 1);
    let json = ledger.to_record_json(77);

    let again = Ledger::new();
    assert_eq!(again.restore(&json).unwrap(), 77);
    assert_eq!(again.snapshot(), ledger.snapshot());
    assert_eq!(again.received_total(), 3);
}

#[test]
fn a_ledger_record_that_is_damaged_or_newer_changes_nothing() {
    let ledger = Ledger::new();
    assert!(matches!(ledger.restore(b"{\"through\":1"), Err(RestoreError::Damaged(_))));
    let many = vec!["1"; Reason::COUNT + 1].join(",");
    let newer = format!(
        "{{\"through\":1,\"clients\":[{{\"client\":1,\"received\":0,\"stored\":0,\"redelivered\":0,\
         \"superseded\":0,\"interrupted\":0,\"refused\":[{many}]}}]}}"
    );
    assert!(matches!(
        ledger.restore(newer.as_bytes()),
        Err(RestoreError::UnknownReasons { found: 18, known: 17 })
    ));
    for (received, stored) in [(1, 2), (u64::MAX, 0), (5, u64::MAX)] {
        let odd = format!(
            "{{\"through\":1,\"clients\":[{{\"client\":1,\"received\":{received},\"stored\":{stored},\
             \"redelivered\":1,\"superseded\":0,\"interrupted\":0,\"refused\":[]}}]}}"
        );
        assert!(matches!(ledger.restore(odd.as_bytes()), Err(RestoreError::Unbalanced)), "{odd}");
    }
    assert_eq!(ledger.totals(), LedgerCounts::default());
}

#[test]
fn interrupted_values_go_to_their_client_where_it_is_known() {
    // Two of the press were in flight when the ledger was saved; one of them got through.
    let ledger = Ledger::new();
    ledger.client(PRESS).receive(5);
    for _ in 0..3 {
        ledger.applied_sample(PRESS, Outcome::Stored);
    }
    let json = ledger.to_record_json(3);

    let again = Ledger::new();
    again.restore(&json).unwrap();
    again.applied_sample(PRESS, Outcome::Stored);
    again.applied_sample(PUMP, Outcome::Stored);
    // The last frame's note knows of 8 values: two more than can be told apart.
    assert_eq!(again.finish_recovery(8), 3);
    assert_eq!(again.client(PRESS).read().interrupted, 1);
    assert_eq!(again.client(PUMP).read().received, 1);
    assert_eq!(again.client(THE_BOX).read().interrupted, 2);
    let total = again.totals();
    assert_eq!((total.received, total.in_flight()), (8, 0));
}

#[test]
fn clients_beyond_the_limit_are_counted_together() {
    let ledger = Ledger::new();
    for number in 0..=u32::try_from(LEDGER_CLIENTS_MAX).unwrap() {
        ledger.client(ClientNumber(number)).receive(1);
    }
    assert!(ledger.snapshot().0.len() <= LEDGER_CLIENTS_MAX);
    assert_eq!(ledger.totals().received, 100_001);
}

/// Goal: the sum holds whatever crashes when. Method: a journal that is a list plays commits and
/// crashes between any two steps; what was synced and what the oracle knows decide what must come
/// out of recovery.
mod crashes {
    use super::*;

    enum Entry {
        Sample(ClientNumber, Outcome),
        Refused(ClientNumber, Reason, u32),
        Ledger(Vec<u8>),
    }

    /// What survives a crash.
    #[derive(Default)]
    struct Disk {
        /// Synced entries; the seq is the place plus one.
        synced: Vec<Entry>,
        /// The note of the last synced frame.
        note: u64,
    }

    /// What the oracle knows to be decided.
    #[derive(Default, PartialEq, Debug)]
    struct Decided {
        stored: u64,
        redelivered: u64,
        refused: u64,
    }

    #[derive(Default)]
    struct Machine {
        disk: Disk,
        ledger: Arc<Ledger>,
        queued: Vec<Entry>,
        decided: Decided,
    }

    fn apply(ledger: &Ledger, entry: &Entry) {
        match entry {
            Entry::Sample(client, outcome) => ledger.applied_sample(*client, *outcome),
            Entry::Refused(client, reason, count) => {
                ledger.applied_refused(*client, *reason, *count);
            }
            Entry::Ledger(_) => {}
        }
    }

    impl Machine {
        /// A session submits: counted first, then appended.
        fn submit(&mut self, random: &mut dyn FnMut(u32) -> u32) {
            let client = ClientNumber(1 + random(3));
            let count = 1 + random(5);
            self.ledger.client(client).receive(u64::from(count));
            if random(4) == 0 {
                self.queued.push(Entry::Refused(client, Reason::RateLimited, count));
                return;
            }
            for _ in 0..count {
                let outcomes = [Outcome::Stored, Outcome::Redelivered, Outcome::Superseded];
                self.queued.push(Entry::Sample(client, outcomes[random(3) as usize]));
            }
        }

        /// The queue is synced; the follower sees it unless the machine stops just then.
        fn commit(&mut self, is_followed: bool) {
            self.disk.note = self.ledger.received_total();
            for entry in self.queued.drain(..) {
                if is_followed {
                    apply(&self.ledger, &entry);
                }
                match &entry {
                    Entry::Sample(_, Outcome::Redelivered) => self.decided.redelivered += 1,
                    Entry::Sample(..) => self.decided.stored += 1,
                    Entry::Refused(_, _, count) => self.decided.refused += u64::from(*count),
                    Entry::Ledger(_) => {}
                }
                self.disk.synced.push(entry);
            }
        }

        /// Everything but the disk is gone.
        fn restart(&mut self) {
            self.queued.clear();
            self.ledger = Ledger::new();
            let saved = self.disk.synced.iter().rev().find_map(|entry| match entry {
                Entry::Ledger(json) => Some(json),
                _ => None,
            });
            let through = saved.map_or(0, |json| self.ledger.restore(json).unwrap());
            for entry in self.disk.synced.iter().skip(usize::try_from(through).unwrap()) {
                apply(&self.ledger, entry);
            }
            self.ledger.finish_recovery(self.disk.note);
        }

        fn check(&self, seed: u32) {
            let total = self.ledger.totals();
            assert!(total.is_balanced(), "seed {seed}: {total:?}");
            let decided = Decided {
                stored: total.stored,
                redelivered: total.redelivered,
                refused: total.refused_total(),
            };
            assert_eq!(decided, self.decided, "seed {seed}");
            assert_eq!(total.received, total.decided() + total.in_flight(), "seed {seed}");
            assert_eq!(total.received, self.ledger.received_total(), "seed {seed}");
            assert!(total.received >= self.disk.note, "seed {seed}: receipts were forgotten");
        }
    }

    fn one_schedule(seed: u32) {
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        let mut random = move |below: u32| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state % below
        };
        let mut machine = Machine::default();
        for _ in 0..300 {
            match random(20) {
                0..=9 => machine.submit(&mut random),
                10 => {
                    // A session ends with what it could not append.
                    machine.ledger.client(PUMP).receive(2);
                    machine.ledger.client(PUMP).interrupt(2);
                }
                11..=15 => machine.commit(true),
                16..=17 => {
                    let json = machine.ledger.to_record_json(machine.disk.synced.len() as u64);
                    machine.queued.push(Entry::Ledger(json));
                }
                18 => {
                    machine.commit(false);
                    machine.restart();
                }
                _ => machine.restart(),
            }
            machine.check(seed);
        }
        machine.restart();
        let total = machine.ledger.totals();
        assert_eq!(total.in_flight(), 0, "seed {seed}");
        assert_eq!(total.received, machine.disk.note.max(total.decided()), "seed {seed}");
    }

    #[test]
    fn random_schedules_add_up() {
        for seed in 1..=200 {
            one_schedule(seed);
        }
    }
}

#[test]
fn readers_never_see_more_decided_than_received() {
    // Two threads count while this one reads; a reader that looked in the wrong order would see
    // an outcome without its receipt within a few thousand rounds.
    let ledger = Ledger::new();
    std::thread::scope(|scope| {
        for client in [PRESS, PUMP] {
            let ledger = &ledger;
            scope.spawn(move || {
                let counters = ledger.client(client);
                for round in 0..50_000 {
                    counters.receive(2);
                    counters.decide(Outcome::Superseded);
                    counters.refuse(Reason::WrongKind, 1);
                    if round % 8 == 0 {
                        counters.reclassify(1);
                        counters.receive(1);
                        counters.decide(Outcome::Stored);
                    }
                }
            });
        }
        for _ in 0..5_000 {
            let counts = ledger.client(PRESS).read();
            assert!(counts.decided() <= counts.received, "{counts:?}");
        }
    });
    assert_eq!(ledger.totals().in_flight(), 0);
}
