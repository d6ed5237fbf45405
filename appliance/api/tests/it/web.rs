//! The studio's bundle: what is served, how it may be cached, and what is not there.

use crate::http::{Answer, Request};
use crate::server::Server;
use millrace_api::Settings;
use std::io::Write as _;
use std::path::Path;

const VERSION: &str = "0123456789abcdef";

fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let web = folder.path().join("web");
    let assets = web.join("assets").join(VERSION);
    std::fs::create_dir_all(assets.join("islands")).unwrap();
    write(&folder.path().join("secret.key"), "secret");
    write(&web.join("index.html"), "<!doctype html>the page");
    write(&assets.join("app.js"), "plain code");
    write(&assets.join("app.js.br"), "brotli code");
    write(&assets.join("app.js.gz"), "gzip code");
    write(&assets.join("app_bg.wasm"), "wasm");
    write(&assets.join("islands/trend.js"), "island");
    folder
}

fn write(path: &Path, text: &str) {
    std::fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

async fn serving(folder: &Path) -> Server {
    let web_folder = Some(folder.join("web"));
    Server::start_with(Settings { web_folder, ..Settings::loopback() }).await
}

async fn get(server: &Server, target: &str) -> Answer {
    Request::get(target).send(server.address).await
}

fn asset(name: &str) -> String {
    format!("/assets/{VERSION}/{name}")
}

#[tokio::test]
async fn every_page_address_is_answered_with_the_page() {
    let folder = bundle();
    let server = serving(folder.path()).await;
    for target in ["/", "/sign-in", "/namespace/line%201/press", "/pipelines/a.b", "/sizing?x=1"] {
        let answer = get(&server, target).await.expect(200);
        assert_eq!(answer.text(), "<!doctype html>the page", "{target}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    server.stop().await;
}

#[tokio::test]
async fn assets_are_compressed_and_cached_for_good() {
    let folder = bundle();
    let server = serving(folder.path()).await;
    let plain = get(&server, &asset("app.js")).await.expect(200);
    assert_eq!(plain.text(), "plain code");
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
    for (accepted, encoding, text) in
        [("gzip, br", Some("br"), "brotli code"), ("gzip", Some("gzip"), "gzip code")]
    {
        let request = Request::get(&asset("app.js")).header("Accept-Encoding", accepted);
        let answer = request.send(server.address).await.expect(200);
        assert_eq!((answer.header("content-encoding"), answer.text()), (encoding, text));
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"));
        assert_eq!(answer.header("vary"), Some("accept-encoding"));
    }
    let wasm = get(&server, &asset("app_bg.wasm")).await.expect(200);
    assert_eq!(wasm.header("content-type"), Some("application/wasm"));
    get(&server, &asset("islands/trend.js")).await.expect(200);
    server.stop().await;
}

#[tokio::test]
async fn what_the_browser_has_is_not_sent_again() {
    let folder = bundle();
    let server = serving(folder.path()).await;
    let tag = get(&server, "/").await.expect(200).header("etag").unwrap().to_owned();
    let again = Request::get("/").header("If-None-Match", &tag).send(server.address).await;
    let again = again.expect(304);
    assert_eq!(again.text(), "");
    // A browser takes these headers for those of the page that it has kept.
    let policy = again.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'"), "{policy}");
    write(&folder.path().join("web/index.html"), "a newer page");
    let newer = Request::get("/").header("If-None-Match", &tag).send(server.address).await;
    assert_eq!(newer.expect(200).text(), "a newer page");
    server.stop().await;
}

#[tokio::test]
async fn no_address_leads_out_of_the_folder() {
    let folder = bundle();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        folder.path().join("secret.key"),
        folder.path().join("web/assets").join(VERSION).join("link.txt"),
    )
    .unwrap();
    let server = serving(folder.path()).await;
    let below = |rest: &str| format!("/assets/{VERSION}/{rest}");
    for target in [
        "/secret.key".to_owned(),
        "/../secret.key".to_owned(),
        "/assets/../../secret.key".to_owned(),
        below("../../../secret.key"),
        below("..%2f..%2f..%2fsecret.key"),
        below("%2e%2e/%2e%2e/%2e%2e/secret.key"),
        below("..\\..\\..\\secret.key"),
        below("link.txt"),
        below("islands"),
        below(""),
        "/index.html".to_owned(),
        "/assets/index.html".to_owned(),
        "//secret.key".to_owned(),
    ] {
        let answer = get(&server, &target).await;
        assert_eq!(answer.status, 404, "{target}: {}", answer.text());
        assert!(!answer.text().contains("secret\n"), "{target}");
    }
    server.stop().await;
}

#[tokio::test]
async fn only_reading_is_answered() {
    let folder = bundle();
    let server = serving(folder.path()).await;
    let answer = Request::new("POST", "/pipelines").send(server.address).await;
    assert_eq!(answer.status, 404);
    let answer = Request::new("HEAD", "/pipelines").send(server.address).await;
    assert_eq!((answer.status, answer.text()), (200, ""));
    server.stop().await;
}

#[tokio::test]
async fn without_a_bundle_a_page_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    for server in [serving(folder.path()).await, Server::start().await] {
        for target in ["/", "/pipelines"] {
            let answer = get(&server, target).await.expect(200);
            assert!(answer.text().contains("cargo xtask ui"), "{}", answer.text());
        }
        get(&server, &asset("app.js")).await.expect_error(404, "not_found", None);
        server.stop().await;
    }
}
