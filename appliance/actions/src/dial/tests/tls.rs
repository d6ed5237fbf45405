//! TLS of all kinds: trusted by the step's own certificates, for the right name, or not at all.

use crate::testing::Bench;
use crate::testing::tls::Identity;
use serde_json::json as j;

#[tokio::test]
async fn https_needs_a_trusted_certificate_for_the_host() {
    let identity = Identity::new();
    let server = identity.https().await;
    let bench = Bench::with(&["localhost", "127.0.0.1"]);
    let run = async |host: &str, path: &str, pem: Option<&str>| {
        let url = format!("https://{host}:{}{path}", server.port);
        let mut fields = j!({"url": url, "bearer": {"secret": "s1"}, "redirects_max": 3});
        if let Some(pem) = pem {
            fields["tls_ca_pem"] = j!(pem);
        }
        bench.run("http.request", fields, j!({})).await
    };
    let done = run("localhost", "/", Some(&identity.pem)).await.unwrap();
    assert_eq!(crate::testing::json(&done)["body"], "secret");
    assert_eq!(server.notes.lock().len(), 1);
    // Nobody trusts it; or it is for another name; or it is another's.
    let other = Identity::new();
    for (host, pem) in
        [("localhost", None), ("127.0.0.1", Some(&identity.pem)), ("localhost", Some(&other.pem))]
    {
        let fault = run(host, "/", pem.map(String::as_str)).await.unwrap_err();
        assert_eq!(fault.code, "tls", "{fault}");
        assert!(!fault.message.contains("value-of"), "{fault}");
    }
    assert_eq!(server.notes.lock().len(), 1, "nothing was sent to whom nobody trusts");
    let fault = run("localhost", "/down", Some(&identity.pem)).await.unwrap_err();
    assert!(fault.code == "redirect" && fault.message.contains("https to http"), "{fault}");
    for pem in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let fields = j!({"url": "https://localhost/", "tls_ca_pem": pem});
        assert!(bench.compile("http.request", fields).is_err(), "{pem}");
    }
}

#[tokio::test]
async fn mqtts_needs_it_too() {
    let identity = Identity::new();
    let server = identity.mqtts().await;
    let bench = Bench::with(&["localhost"]);
    let url = format!("mqtts://localhost:{}", server.port);
    let fields = j!({"url": url, "topic": "a", "value": 1, "tls_ca_pem": identity.pem});
    bench.run("mqtt.publish", fields, j!({})).await.unwrap();
    let fields = j!({"url": url, "topic": "a", "value": 1});
    let time = std::time::Duration::from_millis(400);
    let fault = bench.run_within("mqtt.publish", fields, j!({}), time).await.unwrap_err();
    assert!(fault.code == "tls" && fault.is_transient, "{fault}");
}

#[tokio::test]
async fn mail_signs_in_over_tls_alone() {
    let identity = Identity::new();
    let bench = Bench::with(&["localhost"]);
    for (mode, is_implicit) in [("tls", true), ("starttls", false)] {
        let server = identity.smtps(is_implicit).await;
        let mut fields = j!({
            "host": "localhost", "port": server.port, "tls": mode, "user": "u",
            "password": {"secret": "s1"}, "from": "a@b.example", "to": ["c@d.example"],
            "subject": "s", "text": "t", "tls_ca_pem": identity.pem,
        });
        bench.run("mail", fields.clone(), j!({})).await.unwrap();
        let lines = std::mem::take(&mut *server.notes.lock());
        assert!(lines.iter().any(|line| line.starts_with("AUTH PLAIN")), "{mode}: {lines:?}");
        assert!(lines.iter().any(|line| line == "DATA"), "{mode}: {lines:?}");
        // Without trust neither the password nor the mail is sent.
        fields.as_object_mut().unwrap().remove("tls_ca_pem");
        let fault = bench.run("mail", fields, j!({})).await.unwrap_err();
        assert!(!fault.message.contains("value-of"), "{fault}");
        let lines = server.notes.lock().clone();
        assert!(!lines.iter().any(|line| line.starts_with("AUTH") || line == "DATA"), "{lines:?}");
    }
}
