//! Queues of windows: what is kept, replaced, dropped, and who is woken.

use super::*;

fn offline(profile: &str) -> Event {
    let profile = ProfileId::try_from(profile.to_owned()).unwrap();
    Event::Connection { profile, state: ConnectionState::Offline }
}

const ONE: &str = "0000000000000001";
const TWO: &str = "0000000000000002";

#[tokio::test(start_paused = true)]
async fn the_newest_state_of_each_appliance_is_told() {
    let outbox = Outbox::default();
    let queue = outbox.window("main").unwrap();
    let session = queue.greet();
    outbox.tell_all(&offline(ONE));
    outbox.tell_all(&offline(TWO));
    outbox.tell_all(&offline(ONE));
    assert_eq!(queue.fetch(session).await.unwrap().len(), 2);
    assert_eq!(queue.fetch(session).await.unwrap().len(), 0, "and then nothing, after its time");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_page_is_woken() {
    let outbox = Arc::new(Outbox::default());
    let queue = outbox.window("main").unwrap();
    let session = queue.greet();
    let began = Instant::now();
    let (fetched, ()) = tokio::join!(queue.fetch(session), async {
        tokio::time::sleep(EVENTS_WAIT / 2).await;
        outbox.tell_all(&offline(ONE));
    });
    assert_eq!(fetched.unwrap().len(), 1);
    assert!(began.elapsed() < EVENTS_WAIT);
}

#[tokio::test(start_paused = true)]
async fn a_reload_ends_the_first_page_and_keeps_what_nobody_saw() {
    let queue = Queue::default();
    let first = queue.greet();
    queue.tell(offline(ONE));
    queue.tell(Event::Command { name: "new".to_owned() });
    queue.open_stream(first, 1).unwrap();
    let waiting = async {
        let second = queue.greet();
        assert!(!queue.frame(1, "1".to_owned()), "the first page's stream is over");
        second
    };
    let second = waiting.await;
    assert_eq!(queue.fetch(first).await.unwrap_err().code, FaultCode::Replaced);
    let events = queue.fetch(second).await.unwrap();
    assert!(matches!(events.as_slice(), [Event::Command { .. }]), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_page_loses_the_oldest_frames_and_is_told_how_many() {
    let queue = Queue::default();
    let session = queue.greet();
    queue.open_stream(session, 7).unwrap();
    queue.stream_state(7, true);
    for number in 0..FRAMES_MAX + 3 {
        queue.frame(7, number.to_string());
    }
    let events = queue.fetch(session).await.unwrap();
    let [Event::Live { stream: 7, connected: true, frames, dropped: 3 }] = events.as_slice() else {
        panic!("{}", events.len());
    };
    assert_eq!((frames.len(), frames[0].as_str()), (FRAMES_MAX, "3"));
    let large = format!("\"{}\"", "x".repeat(FRAMES_BYTES_MAX / 2));
    for _ in 0..3 {
        queue.frame(7, large.clone());
    }
    let events = queue.fetch(session).await.unwrap();
    assert!(matches!(&events[..], [Event::Live { dropped: 2, frames, .. }] if frames.len() == 1));
}

#[tokio::test(start_paused = true)]
async fn events_and_windows_are_bounded() {
    let outbox = Outbox::default();
    let queue = outbox.window("main").unwrap();
    let session = queue.greet();
    for number in 0..EVENTS_MAX + 5 {
        queue.tell(Event::Command { name: number.to_string() });
    }
    let events = queue.fetch(session).await.unwrap();
    assert_eq!(events.len(), EVENTS_MAX);
    assert!(matches!(&events[0], Event::Command { name } if name == "5"));
    for number in 1..WINDOWS_MAX {
        outbox.window(&number.to_string()).unwrap();
    }
    let full = outbox.window("one more").err().unwrap();
    assert_eq!(full.code, FaultCode::TooLarge);
    outbox.close("1");
    outbox.window("one more").unwrap();
}
