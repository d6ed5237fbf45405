//! Addresses in all spellings against the rules.

use super::*;

fn judge(policy: &Policy, host: &str, address: &str) -> Result<(), Rule> {
    policy.check(host, address.parse().unwrap())
}

#[test]
fn refuses_the_box_and_its_link_in_every_spelling() {
    let policy = Policy::default();
    for (address, rule) in [
        ("127.0.0.1:80", Rule::Loopback),
        ("127.9.9.9:80", Rule::Loopback),
        ("[::1]:80", Rule::Loopback),
        ("[::ffff:127.0.0.1]:80", Rule::Loopback),
        ("[::127.0.0.1]:80", Rule::Loopback),
        ("[64:ff9b::7f00:1]:80", Rule::Loopback),
        ("[2002:7f00:1::1]:80", Rule::Loopback),
        ("0.0.0.0:80", Rule::Unspecified),
        ("0.1.2.3:80", Rule::Unspecified),
        ("[::]:80", Rule::Unspecified),
        ("169.254.1.1:80", Rule::LinkLocal),
        ("[fe80::1]:80", Rule::LinkLocal),
        ("[febf::1]:80", Rule::LinkLocal),
        ("[::ffff:169.254.0.9]:80", Rule::LinkLocal),
        ("224.0.0.1:80", Rule::Multicast),
        ("[ff02::1]:80", Rule::Multicast),
        ("255.255.255.255:80", Rule::Multicast),
        ("169.254.169.254:80", Rule::Metadata),
        ("[fd00:ec2::254]:80", Rule::Metadata),
        ("100.100.100.200:80", Rule::Metadata),
    ] {
        assert_eq!(judge(&policy, "some.host", address), Err(rule), "{address}");
    }
}

#[test]
fn allows_plant_networks() {
    let policy = Policy::default();
    for address in
        ["10.1.2.3:80", "172.16.0.1:1", "192.168.1.5:443", "[fd12::5]:5432", "8.8.8.8:53"]
    {
        assert_eq!(judge(&policy, "mes.plant", address), Ok(()), "{address}");
    }
}

#[test]
fn allows_by_name_under_that_name_alone() {
    let policy = Policy {
        allowed_hosts: vec!["LocalHost".to_owned(), "127.0.0.1:1883".to_owned(), "[::1]:80".into()],
        ..Policy::default()
    };
    assert_eq!(judge(&policy, "localhost.", "127.0.0.1:9"), Ok(()));
    assert_eq!(judge(&policy, "127.0.0.1", "127.0.0.1:1883"), Ok(()));
    assert_eq!(judge(&policy, "127.0.0.1", "127.0.0.1:1884"), Err(Rule::Loopback));
    assert_eq!(judge(&policy, "[::1]", "[::1]:80"), Ok(()));
    assert_eq!(judge(&policy, "::1", "[::1]:81"), Err(Rule::Loopback));
    assert_eq!(judge(&policy, "evil.example", "127.0.0.1:1883"), Err(Rule::Loopback));
}

#[test]
fn refuses_own_listeners_on_all_addresses_of_this_machine() {
    // Given listeners on all addresses and on one; loopback stands for "an address of this
    // machine", which is why it is looked at below the rule that refuses it anyway.
    let policy = Policy {
        own_listeners: vec!["0.0.0.0:8080".parse().unwrap(), "10.0.0.7:1883".parse().unwrap()],
        ..Policy::default()
    };
    assert!(policy.is_own("127.0.0.1".parse().unwrap(), 8080));
    assert!(!policy.is_own("127.0.0.1".parse().unwrap(), 8081));
    assert!(!policy.is_own("192.0.2.1".parse().unwrap(), 8080), "of another machine");
    assert_eq!(judge(&policy, "x", "10.0.0.7:1883"), Err(Rule::OwnListener));
    assert_eq!(judge(&policy, "x", "10.0.0.8:1883"), Ok(()));
}
