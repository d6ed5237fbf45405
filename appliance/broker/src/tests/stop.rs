//! The clean stop.

use super::device::{inbox, publish4, publish5};
use super::*;

#[tokio::test]
async fn acknowledges_what_is_in_flight_then_says_goodbye() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    let mut old = stand.old_device("old").await;
    let mut silent = stand.socket().await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    device.ping().await;
    old.send(&publish4(&inbox("old", "t"), 2, b"1")).await;
    stand.until("both offered", |stand| stand.plant.offered() == 2).await;

    let broker = stand.broker.clone();
    let stopping = spawn::task("test-stop", async move { broker.shutdown(DEADLINE).await });
    silent.expect_end().await;
    // Not read any more.
    device.send(&publish5(&inbox("press", "t"), 3, b"1")).await;
    stand.plant.commit();
    assert_eq!(device.packet().await, (0x40, vec![0, 1]));
    assert_eq!(old.packet().await, (0x40, vec![0, 2]));
    device.expect_disconnect(0x8b).await;
    old.expect_end().await;
    drop((device, old, silent));
    assert!(stopping.await.unwrap(), "nothing had to be cut");
    assert_eq!(stand.plant.offered(), 2);
    assert!(tokio::net::TcpStream::connect(stand.address).await.is_err());
}

#[tokio::test]
async fn cuts_what_is_not_durable_by_the_deadline_and_acknowledges_nothing() {
    let stand = stand().await;
    let mut device = stand.device("press").await;
    device.send(&publish5(&inbox("press", "t"), 1, b"1")).await;
    device.ping().await;
    assert!(!stand.broker.shutdown(Duration::from_millis(50)).await);
    device.expect_end().await;
    assert_eq!(stand.broker.stats().connected, 0);
}
