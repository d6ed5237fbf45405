//! The certificate's life: generated, kept, renewed for new names, the operator's own left alone.

use super::*;

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    std::fs::File::create(path)?.write_all(bytes)
}

fn ensure(folder: &Path, names: &[&str]) -> Result<Certificate, TlsError> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let now = Timestamp::from_rfc3339("2026-11-30T12:00:00Z").unwrap();
    ensure_certificate(folder, &names, now, &write)
}

#[test]
fn keeps_its_certificate_until_the_names_change() {
    let folder = tempfile::tempdir().unwrap();
    let first = ensure(folder.path(), &["localhost", "127.0.0.1"]).unwrap();
    assert!(first.is_new && first.is_own);
    let until = Timestamp::from_rfc3339("2036-01-01T00:00:00Z");
    assert_eq!(first.validity.not_after, until);
    assert_eq!(first.fingerprint.len(), 95);
    let again = ensure(folder.path(), &["localhost", "127.0.0.1"]).unwrap();
    assert!(!again.is_new && again.is_own);
    assert_eq!(again.validity, first.validity);
    assert_eq!(again.fingerprint, first.fingerprint);
    let renamed = ensure(folder.path(), &["localhost", "press-hall"]).unwrap();
    assert!(renamed.is_new);
    assert_ne!(renamed.fingerprint, first.fingerprint);
}

#[test]
fn leaves_the_operators_own_certificate_alone() {
    // Given our certificate, replaced by another one
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    ensure(folder.path(), &["localhost"]).unwrap();
    let own = ensure(other.path(), &["plant.example"]).unwrap();
    for file in ["key.pem", "certificate.pem"] {
        std::fs::copy(other.path().join(file), folder.path().join(file)).unwrap();
    }
    // When the names change
    let found = ensure(folder.path(), &["press-hall"]).unwrap();
    // Then it is still the operator's
    assert!(!found.is_new && !found.is_own);
    assert_eq!(found.fingerprint, own.fingerprint);
}

#[test]
fn says_which_file_is_damaged_and_does_not_overwrite_it() {
    let folder = tempfile::tempdir().unwrap();
    ensure(folder.path(), &["localhost"]).unwrap();
    let path = folder.path().join("certificate.pem");
    write(&path, b"garbage").unwrap();
    let error = ensure(folder.path(), &["localhost"]).unwrap_err();
    assert!(error.to_string().contains("certificate.pem"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"garbage");
}

#[test]
fn a_failed_write_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let full = |_: &Path, _: &[u8]| Err(io::Error::from(io::ErrorKind::StorageFull));
    let names = ["localhost".to_owned()];
    let result = ensure_certificate(folder.path(), &names, Timestamp(0), &full);
    assert!(matches!(result, Err(TlsError::File { .. })));
}
