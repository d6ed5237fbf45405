//! Devices that come back while the dying server's listener is still there.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use super::*;
use crate::floor::answer_all;
use crate::load::spec::{Credential, Spec};

fn crowd(address: SocketAddr, resend_ms: u64) -> Crowd {
    let nobody = |number| Credential { user: format!("u{number}"), secret: None };
    let clients = (0..3).map(nobody).collect();
    Crowd::new(Spec { clients, resend_ms: Some(resend_ms), ..Spec::empty(address) }).unwrap()
}

/// Answers one client until it goes.
fn answer(mut stream: TcpStream) {
    let (mut level, mut waiting, mut buffer) = (5, Vec::new(), [0; 1_024]);
    while let Ok(got @ 1..) = stream.read(&mut buffer) {
        waiting.extend_from_slice(&buffer[..got]);
        let mut answer = Vec::new();
        let (used, _) = answer_all(&waiting, &mut level, &mut answer).unwrap();
        waiting.drain(..used);
        stream.write_all(&answer).unwrap();
    }
}

#[test]
fn comes_back_past_the_dying_servers_listener() {
    // Given a server of which only the listener is left, which takes one more connection
    let dying = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = dying.local_addr().unwrap();
    let servers = thread::spawn(move || {
        drop(dying.accept().unwrap());
        drop(dying);
        let reborn = TcpListener::bind(address).unwrap();
        for _ in 0..3 {
            let (stream, _) = reborn.accept().unwrap();
            thread::spawn(move || answer(stream));
        }
    });
    // When three devices come back
    let mut crowd = crowd(address, 10_000);
    let mut told = Vec::new();
    come_back(&mut crowd, &mut |event| told.push(event)).unwrap();
    // Then all of them are at the new server
    assert!(matches!(told[..], [Event::Down { .. }, Event::Again]), "{told:?}");
    assert_eq!(crowd.offline, 0);
    servers.join().unwrap();
}

#[test]
fn gives_up_when_no_server_comes_back_in_time() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = come_back(&mut crowd(address, 50), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the server did not listen again in time");
}
