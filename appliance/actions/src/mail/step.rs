//! The step `mail`. Its input passes on unchanged.
//!
//! **Invariants**: a stub records the fields and sends nothing.

use super::message::{Mailbox, Message};
use super::server::{Security, Server};
use crate::call::Call;
use crate::dial::{Endpoint, Tls};
use crate::fields::{Fields, Reader, SecretName, plain_text, reveal, text_of};
use crate::limits::{MAIL_BYTES_MAX, RECIPIENTS_MAX, SUBJECT_BYTES_MAX};
use crate::pool::Pool;
use lettre::address::Envelope;
use millrace_engine::step::{Context, Outcome, Step, StepFault};
use millrace_engine::{CompileFault, Compiler};
use millrace_flow::{Data, Map, document};
use std::sync::Arc;

#[derive(Debug)]
struct Mail {
    pool: Arc<Pool>,
    fields: Fields,
    server: Server,
    login: Option<(String, SecretName)>,
    from: Mailbox,
}

pub(crate) fn compile(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let mut reader = Reader::new(step, compiler)?;
    let host = reader.needed_text("host")?;
    let port = reader.whole("port")?.and_then(|port| u16::try_from(port).ok()).unwrap_or(587);
    let mode = reader.choice("tls", &[("starttls", 0), ("tls", 1), ("off", 2)])?;
    let trust = reader.trust()?;
    let user = reader.text("user")?;
    let password = reader.secret("password")?;
    if password.is_some() && mode == 2 {
        return Err(reader.fault("tls", "a password is not sent without TLS"));
    }
    let tls = if mode == 1 { trust.clone() } else { Tls::Off };
    let server = Server {
        endpoint: Endpoint { host: host.into(), port, tls },
        security: if mode == 0 { Security::StartTls } else { Security::AsDialed },
        trust,
    };
    let from = reader.needed_text("from")?;
    let from = Mailbox::parse(&from).map_err(|fault| reader.fault("from", fault.message))?;
    for name in ["to", "cc", "bcc", "reply_to", "subject", "text"] {
        reader.evaluated(name)?;
    }
    let fields = reader.finish();
    Ok(Arc::new(Mail { pool: Arc::clone(pool), fields, server, login: user.zip(password), from }))
}

impl Step for Mail {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let values = self.fields.evaluate(context, input)?;
        let input = input.clone();
        if context.is_stubbed() {
            let answer = context.stub(Data::Map(Arc::new(values)))?;
            return Ok(Outcome::Out(0, if answer == Data::Missing { input } else { answer }));
        }
        let (message, envelope) = self.message(context, &values)?;
        let mail = message.text();
        let held = self.pool.budget.take(mail.len())?;
        let mut call = Call::new(&self.pool.targets, self.server.endpoint.target("mail"), context);
        let login = match &self.login {
            None => None,
            Some((user, secret)) => {
                Some((user.clone(), reveal(context, secret, &mut call.secrets)?))
            }
        };
        let (pool, server) = (Arc::clone(&self.pool), self.server.clone());
        Ok(call.wait(move |until| async move {
            pool.mails.send(&server, login, &envelope, &mail, until).await?;
            drop(held);
            Ok(input)
        }))
    }
}

impl Mail {
    fn message(
        &self,
        context: &dyn Context,
        values: &Map,
    ) -> Result<(Message, Envelope), StepFault> {
        let bad = |what: String| StepFault::lasting("bad_input", what);
        let (to, cc) = (people(values, "to")?, people(values, "cc")?);
        let bcc = people(values, "bcc")?;
        let all: Vec<_> =
            to.iter().chain(&cc).chain(&bcc).map(|person| person.address.clone()).collect();
        if all.is_empty() || all.len() > RECIPIENTS_MAX {
            let count = all.len();
            return Err(bad(format!("{count} recipients; 1 to {RECIPIENTS_MAX} are possible")));
        }
        let subject = text_of(values, "subject")?;
        let text = text_of(values, "text")?;
        if subject.len() > SUBJECT_BYTES_MAX || text.len() > MAIL_BYTES_MAX {
            return Err(StepFault::lasting(
                "limit",
                format!(
                    "the subject has {} bytes ({SUBJECT_BYTES_MAX} at most), the text {} ({MAIL_BYTES_MAX} at most)",
                    subject.len(),
                    text.len(),
                ),
            ));
        }
        let reply_to = match values.get("reply_to") {
            None | Some(Data::Missing | Data::Null) => None,
            Some(_) => Some(Mailbox::parse(&text_of(values, "reply_to")?)?),
        };
        let from = self.from.clone();
        let envelope = Envelope::new(Some(from.address.clone()), all);
        let envelope = envelope.map_err(|error| bad(error.to_string()))?;
        let id = format!("{}-{}", context.run_id(), context.execution());
        let now = context.now();
        Ok((Message { from, to, cc, reply_to, subject, text, now, id }, envelope))
    }
}

fn people(values: &Map, name: &str) -> Result<Vec<Mailbox>, StepFault> {
    match values.get(name) {
        None | Some(Data::Missing | Data::Null) => Ok(Vec::new()),
        Some(Data::List(items)) if items.len() > RECIPIENTS_MAX => Err(StepFault::lasting(
            "limit",
            format!("the field `{name}` holds more than {RECIPIENTS_MAX} addresses"),
        )),
        Some(Data::List(items)) => {
            items.iter().map(|item| Mailbox::parse(&plain_text(item).unwrap_or_default())).collect()
        }
        Some(one) => Ok(vec![Mailbox::parse(&plain_text(one).unwrap_or_default())?]),
    }
}
