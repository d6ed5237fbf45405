//! The step `mqtt.publish`. Its input passes on unchanged when the broker has acknowledged.
//!
//! **Invariants**: a stub records the fields and connects to nothing.

use super::link::Broker;
use super::payload::{Form, check_topic, payload};
use super::publisher::Message;
use crate::call::Call;
use crate::fields::{Fields, Reader, SecretName, reveal, text_of};
use crate::limits::MQTT_KEEP_ALIVE;
use crate::pool::Pool;
use millrace_engine::step::{Context, Outcome, Step, StepFault};
use millrace_engine::{CompileFault, Compiler};
use millrace_flow::{Data, document};
use rumqttc::mqttbytes::QoS;
use std::sync::Arc;

#[derive(Debug)]
struct MqttPublish {
    pool: Arc<Pool>,
    fields: Fields,
    broker: Broker,
    password: Option<SecretName>,
    form: Form,
    qos: QoS,
    retain: bool,
}

pub(crate) fn compile(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let mut reader = Reader::new(step, compiler)?;
    let endpoint = reader.broker()?;
    if !reader.evaluated("topic")? {
        return Err(reader.fault("topic", "is missing"));
    }
    reader.own_value()?;
    let words = [("auto", Form::Auto), ("json", Form::Json), ("base64", Form::Base64)];
    let form = reader.choice("payload", &words)?;
    let qos = qos(reader.whole("qos")?.unwrap_or(1))
        .ok_or_else(|| reader.fault("qos", "must be 0, 1 or 2"))?;
    let retain = reader.flag("retain")?;
    let client_id = reader.text("client_id")?.unwrap_or_else(|| pool.mqtt.client_id().to_owned());
    let user = reader.text("user")?;
    let password = reader.secret("password")?;
    let broker = Broker {
        endpoint,
        client_id,
        user,
        password: None,
        keep_alive: MQTT_KEEP_ALIVE,
        is_clean: true,
    };
    let (pool, fields) = (Arc::clone(pool), reader.finish());
    Ok(Arc::new(MqttPublish { pool, fields, broker, password, form, qos, retain }))
}

pub(super) fn qos(number: u64) -> Option<QoS> {
    match number {
        0 => Some(QoS::AtMostOnce),
        1 => Some(QoS::AtLeastOnce),
        2 => Some(QoS::ExactlyOnce),
        _ => None,
    }
}

impl Step for MqttPublish {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let values = self.fields.evaluate(context, input)?;
        let input = input.clone();
        if context.is_stubbed() {
            let answer = context.stub(Data::Map(Arc::new(values)))?;
            return Ok(Outcome::Out(0, if answer == Data::Missing { input } else { answer }));
        }
        let topic = text_of(&values, "topic")?;
        check_topic(&topic)?;
        let payload = payload(values.get("value").unwrap_or(&Data::Missing), self.form)?;
        let held = self.pool.budget.take(payload.len() + topic.len())?;
        let mut call = Call::new(&self.pool.targets, self.broker.endpoint.target("mqtt"), context);
        let mut broker = self.broker.clone();
        if let Some(secret) = &self.password {
            broker.password = Some(reveal(context, secret, &mut call.secrets)?);
        }
        let pool = Arc::clone(&self.pool);
        let payload = payload.into();
        let message = Message { topic, payload, qos: self.qos, retain: self.retain, held };
        Ok(call.wait(move |until| async move {
            pool.mqtt.publish(&broker, message, until).await?;
            Ok(input)
        }))
    }
}
