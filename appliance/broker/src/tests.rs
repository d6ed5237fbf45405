//! The broker over real sockets on loopback, with a journal that the test moves by hand.

mod bad_input;
mod device;
mod fake;
mod ingest;
mod live;
mod sessions;
mod stop;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use millrace_supervisor::{SystemClock, spawn};

use crate::{Broker, Config, Fanout, Wiring};
use device::Device;
use fake::Plant;

/// How long anything may take that must happen.
const DEADLINE: Duration = Duration::from_secs(5);

/// A running broker with its fakes.
struct Stand {
    broker: Broker,
    plant: Arc<Plant>,
    fanout: Fanout,
    address: SocketAddr,
}

async fn stand() -> Stand {
    stand_with(|_| {}).await
}

async fn stand_with(change: impl FnOnce(&mut Config)) -> Stand {
    let plant = Plant::new();
    let fanout = Fanout::new("mr/v1");
    let mut config = Config::standard(SocketAddr::from(([127, 0, 0, 1], 0)));
    change(&mut config);
    let wiring = Wiring {
        sign_in: plant.clone(),
        gate: plant.clone(),
        durable: plant.clone(),
        fanout: fanout.clone(),
        clock: Arc::new(SystemClock::new()),
    };
    let broker = Broker::bind(config, wiring).await.unwrap();
    let running = broker.clone();
    spawn::task("test-broker", async move { running.run().await });
    let address = broker.local_addr().unwrap();
    Stand { broker, plant, fanout, address }
}

impl Stand {
    /// A socket that has said nothing yet.
    async fn socket(&self) -> Device {
        Device::open(self.address).await
    }

    /// A signed-in MQTT 5 device; user and MQTT id are `name`.
    async fn device(&self, name: &str) -> Device {
        let mut device = self.socket().await;
        device.send(&device::connect5(name, name, b"secret")).await;
        let (header, body) = device.packet().await;
        assert_eq!((header, body.get(1)), (0x20, Some(&0)), "{body:02x?}");
        device
    }

    /// A signed-in MQTT 3.1.1 device.
    async fn old_device(&self, name: &str) -> Device {
        let mut device = self.socket().await;
        device.send(&device::connect4(name, name, b"secret")).await;
        assert_eq!(device.packet().await, (0x20, vec![0, 0]));
        device
    }

    /// Waits until a number is reached.
    async fn until(&self, what: &str, reached: impl Fn(&Self) -> bool) {
        let waited = tokio::time::timeout(DEADLINE, async {
            while !reached(self) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        assert!(waited.await.is_ok(), "not reached: {what}: {:?}", self.broker.stats());
    }
}
