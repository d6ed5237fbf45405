//! Tests of access as a whole: prepared changes go through `apply`, as the journal does it.

use super::*;
use crate::change::{ClientRights, NewClient, OwnPasswordError, PersonChange};
use crate::claim::{ATTEMPTS_MAX, CODE_LIFETIME, WAIT};
use millrace_model::{Filter, Timestamp};
use millrace_supervisor::TestClock;

const MAIN: WorkspaceNumber = WorkspaceNumber(1);

struct Bench {
    access: Arc<Access>,
    clock: Arc<TestClock>,
    /// Everything that was applied: what a rebuilt catalog would load.
    journal: Vec<Definition>,
}

impl Bench {
    fn new() -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(1_700_000_000_000_000_000)));
        let access = Arc::new(Access::new(clock.clone()).unwrap());
        let mut bench = Self { access, clock, journal: Vec::new() };
        let first = bench.access.first_definitions().unwrap();
        bench.apply(first);
        bench
    }

    fn apply(&mut self, definitions: Vec<Definition>) {
        definitions.iter().for_each(|definition| self.access.apply(definition));
        self.journal.extend(definitions);
    }

    fn client(&mut self, name: &str) -> (ApiClient, Secret) {
        let (client, secret, definitions) = self.access.new_client(new(name), &actor()).unwrap();
        self.apply(definitions);
        (client, secret)
    }

    fn person(&mut self, name: &str, role: Role) {
        let made = self.access.new_person(name, "correct horse", role, &actor()).unwrap();
        self.apply(made);
    }

    /// The box after its memory and its catalog were lost.
    fn restart(&self) -> Access {
        let access = Access::new(self.clock.clone()).unwrap();
        self.journal.iter().for_each(|definition| access.apply(definition));
        access
    }
}

fn actor() -> Actor {
    Actor { who: "local".into(), from: None }
}

fn new(name: &str) -> NewClient {
    NewClient {
        name: name.into(),
        workspace: MAIN,
        publish: vec![Filter::new("press-4/#").unwrap()],
        subscribe: Vec::new(),
        may_create: true,
        retention: None,
        rate_per_s: Some(100),
    }
}

fn role(role: Role) -> PersonChange {
    PersonChange { role: Some(role), ..PersonChange::default() }
}

fn password(password: &str) -> PersonChange {
    PersonChange { password: Some(password.into()), ..PersonChange::default() }
}

fn disabled(disabled: bool) -> PersonChange {
    PersonChange { disabled: Some(disabled), ..PersonChange::default() }
}

fn address(last: u8) -> Option<IpAddr> {
    Some(IpAddr::from([10, 0, 0, last]))
}

#[test]
fn a_secret_verifies_after_a_rebuild_and_only_its_own() {
    let mut bench = Bench::new();
    let (client, secret) = bench.client("press-4");
    assert_eq!(client.id, "press-4");
    let (_, other) = bench.client("press-5");
    let again = bench.restart();
    let grant = again.verify_secret("press-4", secret.reveal()).unwrap();
    assert_eq!(
        (grant.number, grant.rate_per_s, grant.may_create),
        (client.number, Some(100), true)
    );
    assert_eq!(grant.publish, client.publish);
    assert!(again.first_definitions().unwrap().is_empty(), "nothing is missing");
    for (id, secret) in [
        ("press-4", other.reveal()),
        ("press-9", secret.reveal()),
        ("press-4", ""),
        ("", ""),
        ("press-4", client.secret_hash.as_str()),
    ] {
        assert_eq!(again.verify_secret(id, secret).unwrap_err(), SignInError::Refused, "{id}");
    }
    let text = format!("{:?}", bench.journal);
    assert!(!text.contains(secret.reveal()), "no record holds the secret");
}

#[test]
fn nobody_signs_in_before_the_box_is_set_up() {
    let clock = Arc::new(TestClock::new(Timestamp(0)));
    let access = Access::new(clock).unwrap();
    assert_eq!(access.verify_secret("a", "b").unwrap_err(), SignInError::Unavailable);
    assert_eq!(access.verify_bearer("").unwrap_err(), SignInError::Refused);
    let unknown = ChangeError::UnknownWorkspace { workspace: MAIN };
    assert_eq!(access.new_client(new("a"), &actor()).unwrap_err(), unknown);
    assert_eq!(access.first_definitions().unwrap().len(), 3);
}

#[test]
fn ids_and_numbers_are_given_once_also_before_they_are_applied() {
    let mut bench = Bench::new();
    let (first, _, definitions) = bench.access.new_client(new("Press 4"), &actor()).unwrap();
    let (second, _, more) = bench.access.new_client(new("press-4"), &actor()).unwrap();
    assert_eq!(first.id, "press-4");
    assert!(second.id.starts_with("press-4-") && second.id.len() == 12, "{}", second.id);
    assert_ne!(first.number, second.number);
    bench.apply(definitions);
    bench.apply(more);
    let revoke = bench.access.revoke("press-4", &actor()).unwrap();
    bench.apply(revoke);
    let again = bench.restart();
    let (third, ..) = again.new_client(new("press-4"), &actor()).unwrap();
    assert_ne!(third.id, "press-4", "a revoked client's id is not free");
    assert!(third.number > second.number);
    again.reserve_clients_through(ClientNumber(900));
    let (fourth, ..) = again.new_client(new("x"), &actor()).unwrap();
    assert_eq!(fourth.number, ClientNumber(901));
}

#[test]
fn a_thousand_clients_are_prepared_at_once() {
    let mut bench = Bench::new();
    let wanted = (0..1_000).map(|n| new(&format!("device-{n}"))).collect();
    let (clients, definitions) = bench.access.new_clients(wanted, &actor()).unwrap();
    assert_eq!((clients.len(), definitions.len()), (1_000, 2_000));
    bench.apply(definitions);
    let (client, secret) = &clients[999];
    assert!(bench.access.verify_secret(&client.id, secret.reveal()).is_ok());
    // One that cannot be made: none is, and the names are free again.
    let wanted = vec![new("fresh"), new("bad\nname")];
    let refused = bench.access.new_clients(wanted, &actor()).unwrap_err();
    assert_eq!(refused, ChangeError::NameInvalid);
    assert_eq!(bench.client("fresh").0.id, "fresh");
}

#[test]
fn a_revoked_client_is_out_at_once_and_for_good() {
    let mut bench = Bench::new();
    let (client, secret) = bench.client("press-4");
    let alive = bench.journal.clone();
    let cut = Arc::new(Mutex::new(Vec::new()));
    let seen = cut.clone();
    bench.access.on_revoked(move |number| seen.lock().push(number));
    let grant = bench.access.verify_secret("press-4", secret.reveal()).unwrap();
    let token = bench.access.issue_token(&grant, Duration::from_secs(60)).unwrap();
    assert!(bench.access.verify_bearer(token.reveal()).is_ok());
    let definitions = bench.access.revoke("press-4", &actor()).unwrap();
    assert!(bench.access.verify_bearer(token.reveal()).is_ok(), "prepared is not applied");
    bench.apply(definitions);
    assert!(grant.is_ended());
    assert_eq!(*cut.lock(), [client.number]);
    assert_eq!(bench.access.verify_bearer(token.reveal()).unwrap_err(), SignInError::Refused);
    let refused = bench.access.verify_secret("press-4", secret.reveal());
    assert_eq!(refused.unwrap_err(), SignInError::Refused);
    let refused = bench.access.issue_token(&grant, Duration::from_secs(60));
    assert_eq!(refused.unwrap_err(), SignInError::Refused);
    let again = ChangeError::AlreadyRevoked { id: "press-4".into() };
    assert_eq!(bench.access.revoke("press-4", &actor()).unwrap_err(), again);
    // An older state that is applied late does not bring it back.
    bench.apply(alive);
    assert!(bench.access.verify_secret("press-4", secret.reveal()).is_err());
    assert!(bench.restart().verify_secret("press-4", secret.reveal()).is_err());
    assert_eq!(cut.lock().len(), 1);
}

#[test]
fn a_token_signs_its_own_client_in_until_it_expires() {
    let mut bench = Bench::new();
    let (client, secret) = bench.client("press-4");
    bench.client("press-5");
    let access = bench.access.clone();
    let grant = access.sign_in_client("press-4", secret.reveal(), address(1)).unwrap();
    let token = access.issue_token(&grant, Duration::from_secs(60)).unwrap();
    let principal = access.verify_bearer(token.reveal()).unwrap();
    assert!(matches!(&principal, Principal::Client(grant) if grant.number == client.number));
    assert_eq!(principal.who(), "client:press-4");
    assert!(access.sign_in_client("press-4", token.reveal(), address(1)).is_ok());
    let refused = access.sign_in_client("press-5", token.reveal(), address(1));
    assert_eq!(refused.unwrap_err(), SignInError::Refused, "another client's token");
    assert!(bench.restart().verify_bearer(token.reveal()).is_ok(), "tokens outlive a restart");
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(access.verify_bearer(token.reveal()).unwrap_err(), SignInError::Expired);
    let refused = access.sign_in_client("press-4", token.reveal(), address(1));
    assert_eq!(refused.unwrap_err(), SignInError::Expired);
}

#[test]
fn guessing_a_secret_is_limited_and_does_not_lock_the_device_out() {
    let mut bench = Bench::new();
    let (_, secret) = bench.client("press-4");
    let mut last = SignInError::Refused;
    for _ in 0..50 {
        last = bench.access.sign_in_client("press-4", "guess", address(66)).unwrap_err();
    }
    assert!(matches!(last, SignInError::Limited(_)), "{last}");
    assert!(bench.access.sign_in_client("press-4", secret.reveal(), address(1)).is_ok());
}

#[test]
fn a_person_signs_in_and_out() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Engineer);
    let access = bench.access.clone();
    let signed_in = access.sign_in_person("anna", "correct horse", address(1)).unwrap();
    let token = signed_in.token.reveal();
    assert_eq!(signed_in.role, Role::Engineer);
    let principal = access.verify_bearer(token).unwrap();
    assert!(matches!(principal, Principal::Person { role: Role::Engineer, .. }));
    for (name, password) in [("anna", "wrong horse!"), ("bert", "correct horse"), ("", "")] {
        let refused = access.sign_in_person(name, password, address(1));
        assert_eq!(refused.unwrap_err(), SignInError::Refused, "{name}");
    }
    assert!(access.sign_out(token));
    assert_eq!(access.verify_bearer(token).unwrap_err(), SignInError::Refused);
    let signed_in = access.sign_in_person("anna", "correct horse", address(1)).unwrap();
    bench.clock.jump_to(Timestamp(i64::MAX));
    assert!(access.verify_bearer(signed_in.token.reveal()).is_ok(), "a jump ends no session");
    bench.clock.advance(SESSION_LIFETIME);
    assert!(access.verify_bearer(signed_in.token.reveal()).is_err());
}

#[test]
fn changing_a_person_ends_the_sessions() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    bench.person("bert", Role::Admin);
    let access = bench.access.clone();
    let sign_in = |password| access.sign_in_person("anna", password, None);
    let token = sign_in("correct horse").unwrap().token;
    let change = |name: &str, change| access.change_person(name, &change, &actor());
    bench.apply(change("anna", password("battery staple")).unwrap());
    assert!(access.verify_bearer(token.reveal()).is_err());
    assert_eq!(sign_in("correct horse").unwrap_err(), SignInError::Refused);
    let token = sign_in("battery staple").unwrap().token;
    bench.apply(change("anna", role(Role::Viewer)).unwrap());
    assert!(access.verify_bearer(token.reveal()).is_err());
    assert_eq!(sign_in("battery staple").unwrap().role, Role::Viewer);
    assert_eq!(change("bert", disabled(true)).unwrap_err(), ChangeError::LastAdmin);
    assert_eq!(change("bert", role(Role::Engineer)).unwrap_err(), ChangeError::LastAdmin);
    let token = sign_in("battery staple").unwrap().token;
    bench.apply(change("anna", disabled(true)).unwrap());
    assert!(access.verify_bearer(token.reveal()).is_err());
    assert_eq!(sign_in("battery staple").unwrap_err(), SignInError::Refused);
    bench.apply(change("anna", disabled(false)).unwrap());
    assert!(sign_in("battery staple").is_ok(), "an account comes back as it was");
    let unknown = ChangeError::Unknown { name: "carl".into() };
    assert_eq!(change("carl", role(Role::Viewer)).unwrap_err(), unknown);
    assert_eq!(change("anna", password("short")).unwrap_err(), ChangeError::PasswordInvalid);
}

#[test]
fn two_changes_at_once_lose_neither_a_change_nor_the_last_admin() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    bench.person("bert", Role::Admin);
    let access = bench.access.clone();
    let change = |name: &str, change| access.change_person(name, &change, &actor());
    // Given one that is prepared and not in force yet
    let first = change("anna", role(Role::Viewer)).unwrap();
    // Then the same person waits, and the other one cannot count on her
    assert_eq!(change("anna", password("battery staple")).unwrap_err(), ChangeError::Busy);
    assert_eq!(change("bert", disabled(true)).unwrap_err(), ChangeError::Busy);
    // When it could not be made durable, it never was
    access.abandon(&first);
    let second = change("bert", role(Role::Engineer)).unwrap();
    bench.apply(second);
    assert_eq!(change("anna", role(Role::Viewer)).unwrap_err(), ChangeError::LastAdmin);
    assert!(change("anna", role(Role::Admin)).unwrap().is_empty(), "she is one already");
    assert!(change("anna", password("battery staple")).is_ok(), "nothing is left behind");
}

#[test]
fn a_renewed_client_has_one_secret_and_keeps_what_it_may() {
    let mut bench = Bench::new();
    let (client, old) = bench.client("press-4");
    let access = bench.access.clone();
    let grant = access.verify_secret("press-4", old.reveal()).unwrap();
    let (renewed, secret, definitions) = access.renew("press-4", &actor()).unwrap();
    assert!(access.verify_secret("press-4", old.reveal()).is_ok(), "prepared is not applied");
    assert_eq!(access.renew("press-4", &actor()).unwrap_err(), ChangeError::Busy);
    bench.apply(definitions);
    assert!(grant.is_ended(), "its connections are cut");
    let refused = access.verify_secret("press-4", old.reveal());
    assert_eq!(refused.unwrap_err(), SignInError::Refused);
    let grant = access.verify_secret("press-4", secret.reveal()).unwrap();
    assert_eq!((grant.number, &grant.publish), (client.number, &client.publish));
    assert_eq!(ApiClient { secret_hash: client.secret_hash.clone(), ..renewed }, client);
    assert!(bench.restart().verify_secret("press-4", secret.reveal()).is_ok());
    let revoke = access.revoke("press-4", &actor()).unwrap();
    bench.apply(revoke);
    let revoked = ChangeError::AlreadyRevoked { id: "press-4".into() };
    assert_eq!(access.renew("press-4", &actor()).unwrap_err(), revoked);
    let unknown = ChangeError::Unknown { name: "press-9".into() };
    assert_eq!(access.renew("press-9", &actor()).unwrap_err(), unknown);
}

#[test]
fn refuses_people_and_passwords_that_will_not_do() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    let access = bench.access.clone();
    let make = |name: &str, password: &str| {
        access.new_person(name, password, Role::Viewer, &actor()).map(|_| ()).unwrap_err()
    };
    assert_eq!(make("bert", "short"), ChangeError::PasswordInvalid);
    assert_eq!(make("bert", &"x".repeat(300)), ChangeError::PasswordInvalid);
    assert_eq!(make(" bert", "correct horse"), ChangeError::NameInvalid);
    assert_eq!(make("", "correct horse"), ChangeError::NameInvalid);
    assert_eq!(make("anna", "correct horse"), ChangeError::NameTaken { name: "anna".into() });
    access.new_person("carl", "correct horse", Role::Viewer, &actor()).unwrap();
    assert_eq!(make("carl", "correct horse"), ChangeError::NameTaken { name: "carl".into() });
}

#[test]
fn guessing_a_password_is_limited_before_it_is_hashed() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    let mut attempts = 0;
    let limited = loop {
        match bench.access.sign_in_person("anna", "wrong horse!", address(attempts)) {
            Err(SignInError::Refused) => attempts += 1,
            other => break other.unwrap_err(),
        }
    };
    assert_eq!(attempts, 8);
    let SignInError::Limited(limited) = limited else { panic!("{limited}") };
    let right = bench.access.sign_in_person("anna", "correct horse", address(99));
    assert_eq!(right.unwrap_err(), SignInError::Limited(limited), "nothing is compared");
    bench.clock.advance(limited.retry_after);
    assert!(bench.access.sign_in_person("anna", "correct horse", address(99)).is_ok());
}

#[test]
fn the_local_token_acts_as_the_box_itself() {
    let bench = Bench::new();
    let token = LocalToken::generate().unwrap();
    assert_eq!(token.reveal().len(), 64);
    assert_eq!(format!("{token:?}"), "LocalToken(hidden)");
    assert!(bench.access.verify_bearer(token.reveal()).is_err(), "not given yet");
    bench.access.set_local_token(&token);
    assert!(matches!(bench.access.verify_bearer(token.reveal()), Ok(Principal::Local)));
    for wrong in ["", "mrs_", "mrc_", "0", &token.reveal().to_uppercase()] {
        assert!(bench.access.verify_bearer(wrong).is_err(), "{wrong}");
    }
}

/// Opens the claim and collects the codes that are shown.
fn open_claim(access: &Access) -> Arc<Mutex<Vec<String>>> {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let codes = shown.clone();
    access.open_claim(move |code| codes.lock().push(code.reveal().to_owned())).unwrap();
    shown
}

#[test]
fn the_first_claim_makes_an_admin_once() {
    let mut bench = Bench::new();
    let access = bench.access.clone();
    let shown = open_claim(&access);
    let code = shown.lock()[0].clone();
    assert_eq!((code.len(), code.matches('-').count()), (19, 3), "{code}");
    let claim = |code: &str, password| access.claim(code, "anna", password, address(1));
    let weak = claim(&code, "short").unwrap_err();
    assert_eq!(weak, ClaimError::Refused(ChangeError::PasswordInvalid));
    // Typed in small letters with spaces: the same code.
    let typed = code.to_lowercase().replace('-', " ");
    let definitions = claim(&typed, "correct horse").unwrap();
    let second = claim(&code, "correct horse").unwrap_err();
    assert_eq!(second, ClaimError::AlreadyClaimed, "used up before it is even applied");
    bench.apply(definitions);
    assert!(!access.is_unclaimed());
    let signed_in = access.sign_in_person("anna", "correct horse", None).unwrap();
    assert_eq!(signed_in.role, Role::Admin);
    assert!(open_claim(&bench.restart()).lock().is_empty(), "no code where there is a person");
}

#[test]
fn a_claim_code_expires_and_a_restart_makes_a_new_one() {
    let bench = Bench::new();
    let code = open_claim(&bench.access).lock()[0].clone();
    bench.clock.jump_to(Timestamp(0));
    bench.clock.advance(CODE_LIFETIME);
    let refused = bench.access.claim(&code, "anna", "correct horse", None);
    assert_eq!(refused.unwrap_err(), ClaimError::Expired);
    let restarted = bench.restart();
    let fresh = open_claim(&restarted).lock()[0].clone();
    assert_ne!(fresh, code);
    assert!(restarted.claim(&fresh, "anna", "correct horse", None).is_ok());
}

#[test]
fn wrong_claim_codes_bring_a_new_code_and_a_wait() {
    let bench = Bench::new();
    let shown = open_claim(&bench.access);
    let claim = |code: &str| bench.access.claim(code, "anna", "correct horse", None);
    let first = shown.lock()[0].clone();
    for _ in 1..ATTEMPTS_MAX {
        assert_eq!(claim("AAAA-AAAA-AAAA-AAAA").unwrap_err(), ClaimError::WrongCode);
    }
    assert_eq!(claim("").unwrap_err(), ClaimError::Wait { retry_after: WAIT });
    let fresh = shown.lock()[1].clone();
    assert_ne!(first, fresh);
    assert_eq!(claim(&fresh).unwrap_err(), ClaimError::Wait { retry_after: WAIT }, "not yet");
    bench.clock.advance(WAIT);
    assert_eq!(claim(&first).unwrap_err(), ClaimError::WrongCode, "the old one is void");
    assert!(claim(&fresh).is_ok());
}

#[test]
fn two_claims_at_once_make_one_admin() {
    let bench = Bench::new();
    let code = open_claim(&bench.access).lock()[0].clone();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (access, code) = (bench.access.clone(), code.clone());
            std::thread::spawn(move || {
                access.claim(&code, &format!("p{number}"), "correct horse", None).is_ok()
            })
        })
        .collect();
    let won = threads.into_iter().map(|t| t.join().unwrap()).filter(|won| *won);
    assert_eq!(won.count(), 1);
}

#[test]
fn a_snapshot_of_the_state_is_the_state() {
    let mut bench = Bench::new();
    let (_, secret) = bench.client("press-4");
    bench.person("anna", Role::Admin);
    let workspace = bench.journal[0].clone();
    let again = Access::new(bench.clock.clone()).unwrap();
    again.apply(&workspace);
    bench.access.definitions().iter().for_each(|definition| again.apply(definition));
    assert!(again.verify_secret("press-4", secret.reveal()).is_ok());
    assert!(again.sign_in_person("anna", "correct horse", None).is_ok());
    assert_eq!(again.definitions(), bench.access.definitions());
    assert_eq!(again.clients(), bench.access.clients());
}

#[test]
fn each_change_leaves_its_trace() {
    let mut bench = Bench::new();
    bench.client("press-4");
    bench.person("anna", Role::Admin);
    let renew = bench.access.renew("press-4", &actor()).unwrap();
    bench.apply(renew.2);
    let change = PersonChange { password: Some("battery staple".into()), ..disabled(false) };
    let change = bench.access.change_person("anna", &change, &actor()).unwrap();
    bench.apply(change);
    let revoke = bench.access.revoke("press-4", &actor()).unwrap();
    bench.apply(revoke);
    let from = Actor { who: "user:anna".into(), from: address(7) };
    let failed = bench.access.audit(&from, "login.failed", "anna");
    bench.apply(vec![failed]);
    let trace: Vec<_> = bench
        .journal
        .iter()
        .filter_map(|definition| match definition {
            Definition::Audit(entry) => Some((entry.action.as_str(), entry.subject.as_str())),
            _ => None,
        })
        .collect();
    let expected = [
        ("client.create", "press-4"),
        ("person.create", "anna"),
        ("client.renew", "press-4"),
        ("person.password", "anna"),
        ("client.revoke", "press-4"),
        ("login.failed", "anna"),
    ];
    assert_eq!(trace, expected);
}

#[test]
fn a_client_gets_other_rights_and_keeps_its_secret() {
    let mut bench = Bench::new();
    let (client, secret) = bench.client("press-4");
    let access = bench.access.clone();
    let grant = access.verify_secret("press-4", secret.reveal()).unwrap();
    let rights = |filter: &str| ClientRights {
        publish: vec![Filter::new(filter).unwrap()],
        subscribe: Vec::new(),
        may_create: true,
        retention: None,
        rate_per_s: Some(100),
    };
    let (_, nothing) = access.change_rights("press-4", rights("press-4/#"), &actor()).unwrap();
    assert!(nothing.is_empty(), "the same leaves no trace");
    let (changed, definitions) =
        access.change_rights("press-4", rights("press-5/#"), &actor()).unwrap();
    assert_eq!(ApiClient { publish: client.publish.clone(), ..changed }, client);
    let twice = access.change_rights("press-4", rights("#"), &actor()).unwrap_err();
    assert_eq!(twice, ChangeError::Busy);
    bench.apply(definitions);
    assert!(grant.is_ended(), "its connections are cut");
    let grant = access.verify_secret("press-4", secret.reveal()).unwrap();
    assert_eq!(grant.publish, [Filter::new("press-5/#").unwrap()]);
    assert!(bench.restart().verify_secret("press-4", secret.reveal()).is_ok());
    let many = ClientRights { publish: vec![Filter::new("a").unwrap(); 65], ..rights("#") };
    let error = access.change_rights("press-4", many, &actor()).unwrap_err();
    assert_eq!(error, ChangeError::TooMany { what: "filters", limit: 64 });
    let revoke = access.revoke("press-4", &actor()).unwrap();
    bench.apply(revoke);
    let error = access.change_rights("press-4", rights("#"), &actor()).unwrap_err();
    assert_eq!(error, ChangeError::AlreadyRevoked { id: "press-4".into() });
    let error = access.change_rights("press-9", rights("#"), &actor()).unwrap_err();
    assert_eq!(error, ChangeError::Unknown { name: "press-9".into() });
}

#[test]
fn ones_own_password_needs_the_old_one_and_ends_the_other_sessions() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    bench.person("bert", Role::Viewer);
    let access = bench.access.clone();
    let sign_in = |name: &str, password: &str| access.sign_in_person(name, password, None);
    let mine = sign_in("anna", "correct horse").unwrap().token;
    let other = sign_in("anna", "correct horse").unwrap().token;
    let berts = sign_in("bert", "correct horse").unwrap().token;
    let change = |old: &str, new: &str| {
        access.change_own_password((mine.reveal(), "anna"), (old, new), &actor())
    };
    assert_eq!(change("wrong horse", "battery staple").unwrap_err(), OwnPasswordError::OldPassword);
    let short = change("correct horse", "short").unwrap_err();
    assert_eq!(short, OwnPasswordError::Change(ChangeError::PasswordInvalid));
    let definitions = change("correct horse", "battery staple").unwrap();
    assert!(access.verify_bearer(other.reveal()).is_ok(), "prepared is not applied");
    let busy = change("correct horse", "battery staple").unwrap_err();
    assert_eq!(busy, OwnPasswordError::Change(ChangeError::Busy));
    bench.apply(definitions);
    assert!(access.verify_bearer(mine.reveal()).is_ok());
    assert_eq!(access.verify_bearer(other.reveal()).unwrap_err(), SignInError::Refused);
    assert!(access.verify_bearer(berts.reveal()).is_ok());
    assert_eq!(sign_in("anna", "correct horse").unwrap_err(), SignInError::Refused);
    assert!(sign_in("anna", "battery staple").is_ok());
    // It was spared once: an admin's change ends it as it ends every other.
    let reset = access.change_person("anna", &password("staple battery"), &actor()).unwrap();
    bench.apply(reset);
    assert_eq!(access.verify_bearer(mine.reveal()).unwrap_err(), SignInError::Refused);
}

#[test]
fn a_change_of_the_own_password_that_was_not_kept_spares_no_session() {
    let mut bench = Bench::new();
    bench.person("anna", Role::Admin);
    let access = bench.access.clone();
    let mine = access.sign_in_person("anna", "correct horse", None).unwrap().token;
    let whose = (mine.reveal(), "anna");
    let passwords = ("correct horse", "battery staple");
    let prepared = access.change_own_password(whose, passwords, &actor()).unwrap();
    access.abandon(&prepared);
    let reset = access.change_person("anna", &password("staple battery"), &actor()).unwrap();
    bench.apply(reset);
    assert_eq!(access.verify_bearer(mine.reveal()).unwrap_err(), SignInError::Refused);
    let passwords = ("staple battery", "battery staple");
    let error = access.change_own_password(whose, passwords, &actor()).unwrap_err();
    assert_eq!(error, OwnPasswordError::SignIn(SignInError::Refused), "the session has ended");
    let again = access.change_person("anna", &password("correct horse"), &actor());
    assert!(again.is_ok(), "nothing stays reserved");
}

#[test]
fn a_setting_is_changed_by_one_at_a_time() {
    let mut bench = Bench::new();
    let access = bench.access.clone();
    let change = |text: &'static str| {
        access.change_setting::<ChangeError>("views/anna", |before| {
            Ok(format!("{}{text}", before.unwrap_or_default()))
        })
    };
    let first = change("a").unwrap();
    assert_eq!(change("b").unwrap_err(), ChangeError::Busy);
    bench.apply(vec![first]);
    let second = change("b").unwrap();
    access.abandon(&[second]);
    let third = change("c").unwrap();
    bench.apply(vec![third]);
    assert_eq!(bench.restart().setting("views/anna").as_deref(), Some("ac"));
}
