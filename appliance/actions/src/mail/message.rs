//! A mail as text: headers, and the body in base64.
//!
//! Everything that is not plain ASCII is encoded (RFC 2047), line breaks and other control
//! characters in headers become spaces, and the body is base64, so that nothing in a field can end
//! a header or the mail.
//!
//! **Invariants**: the result is ASCII with lines of at most 78 characters that end in CR LF.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;
use millrace_engine::step::StepFault;
use millrace_model::Timestamp;

/// Bytes of text in one encoded word: 52 characters of base64, so that a header's name fits before.
const WORD_BYTES: usize = 39;

/// Somebody with an address: `Name <a@b>` or `a@b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox {
    pub(crate) name: Option<String>,
    pub(crate) address: Address,
}

/// All that a mail says.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) from: Mailbox,
    pub(crate) to: Vec<Mailbox>,
    pub(crate) cc: Vec<Mailbox>,
    pub(crate) reply_to: Option<Mailbox>,
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) now: Timestamp,
    /// The same for every attempt of the same execution.
    pub(crate) id: String,
}

impl Mailbox {
    pub(crate) fn parse(text: &str) -> Result<Self, StepFault> {
        let bad = || {
            let shown = crate::text::cut(text, 100);
            StepFault::lasting("bad_input", format!("\"{shown}\" is no mail address"))
        };
        if text.chars().any(char::is_control) {
            return Err(bad());
        }
        let (name, address) =
            match text.trim().strip_suffix('>').and_then(|text| text.split_once('<')) {
                Some((name, address)) => (Some(name.trim().trim_matches('"').to_owned()), address),
                None => (None, text),
            };
        let address: Address = address.trim().parse().map_err(|_| bad())?;
        if !address.to_string().is_ascii() {
            return Err(bad());
        }
        Ok(Self { name: name.filter(|name| !name.is_empty()), address })
    }

    fn header(&self) -> String {
        match &self.name {
            Some(name) => format!("{}\r\n <{}>", encoded(name, is_plain_name), self.address),
            None => self.address.to_string(),
        }
    }
}

impl Message {
    /// The mail as it is sent.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let mut put = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        put("Date", &date(self.now));
        put("From", &self.from.header());
        for (name, list) in [("To", &self.to), ("Cc", &self.cc)] {
            if !list.is_empty() {
                let all: Vec<_> = list.iter().map(Mailbox::header).collect();
                put(name, &all.join(",\r\n "));
            }
        }
        if let Some(reply_to) = &self.reply_to {
            put("Reply-To", &reply_to.header());
        }
        put("Subject", &encoded(&self.subject, is_plain_text));
        put("Message-ID", &format!("<{}@{}>", self.id, self.from.address.domain()));
        put("Auto-Submitted", "auto-generated");
        put("MIME-Version", "1.0");
        put("Content-Type", "text/plain; charset=utf-8");
        put("Content-Transfer-Encoding", "base64");
        text.push_str("\r\n");
        let body = STANDARD.encode(with_crlf(&self.text));
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at_checked(76).unwrap_or((rest, ""));
            text.push_str(line);
            text.push_str("\r\n");
            rest = after;
        }
        text
    }
}

fn with_crlf(text: &str) -> String {
    let lines: Vec<&str> =
        text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    lines.join("\r\n")
}

fn is_plain_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == ' '
}

fn is_plain_text(c: char) -> bool {
    (' '..='~').contains(&c)
}

/// Text for a header: as it is if it is short and plain, else in encoded words.
fn encoded(text: &str, is_plain: impl Fn(char) -> bool) -> String {
    const PLAIN_BYTES_MAX: usize = 60;
    let text: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.len() <= PLAIN_BYTES_MAX && text.chars().all(is_plain) && !text.contains("=?") {
        return text;
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words: Vec<_> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
    words.join("\r\n ")
}

fn date(now: Timestamp) -> String {
    let nanos = i128::from(now.0);
    // An i64 of nanoseconds always fits.
    let stamp = jiff::Timestamp::from_nanosecond(nanos).unwrap_or_default();
    stamp.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subject: &str, text: &str) -> String {
        let from = Mailbox::parse("Press 4 <press-4@plant.example>").unwrap();
        let to = vec![Mailbox::parse("anna@plant.example").unwrap()];
        let now = Timestamp(1_764_522_872_000_000_000);
        let (subject, text, id) = (subject.to_owned(), text.to_owned(), "7-42-1".to_owned());
        Message { from, to, cc: Vec::new(), reply_to: None, subject, text, now, id }.text()
    }

    fn body_of(mail: &str) -> String {
        let body: String = mail.split_once("\r\n\r\n").unwrap().1.split("\r\n").collect();
        String::from_utf8(STANDARD.decode(body).unwrap()).unwrap()
    }

    #[test]
    fn is_a_mail() {
        let mail = message("Oil is low", "Level: 12 %\nRefill.");
        assert!(mail.starts_with("Date: Sun, 30 Nov 2025 17:14:32 +0000\r\n"), "{mail}");
        for line in [
            "From: Press 4\r\n <press-4@plant.example>\r\n",
            "To: anna@plant.example\r\n",
            "Subject: Oil is low\r\n",
            "Message-ID: <7-42-1@plant.example>\r\n",
        ] {
            assert!(mail.contains(line), "{line}\n{mail}");
        }
        assert_eq!(body_of(&mail), "Level: 12 %\r\nRefill.");
    }

    #[test]
    fn no_field_adds_a_header_or_ends_the_mail() {
        let evil = "x\r\nBcc: all@plant.example\r\n\r\n.\r\nMAIL FROM:<a@b>";
        let mail = message(evil, &format!("{evil}\r\n.\r\n"));
        let head = mail.split_once("\r\n\r\n").unwrap().0;
        let is_smuggled = |line: &str| line.starts_with("Bcc") || line.starts_with("MAIL");
        assert!(!head.lines().any(is_smuggled), "{head}");
        assert!(!mail.lines().any(|line| line == "." || is_smuggled(line)), "{mail}");
        for address in [
            "a@b.example\r\nBcc: c@d.example",
            "a@b.example> <c@d.example",
            "a@b.example, c@d.example",
            "a b@c.example",
            "<a@b.example>\r\n",
            "",
            "no-address",
        ] {
            Mailbox::parse(address).unwrap_err();
        }
        let named = Mailbox::parse("\"Evil\" <c@d.example>, x\" <a@b.example>");
        assert!(named.is_err() || !named.unwrap().header().contains("c@d.example"));
    }

    #[test]
    fn lines_are_short_and_ascii_whatever_the_text() {
        let long = "\u{fc}\u{1f600} ".repeat(200);
        let mail = message(&long, &long);
        assert!(mail.is_ascii());
        assert!(mail.split("\r\n").all(|line| line.len() <= 78), "{mail}");
        assert_eq!(body_of(&mail), long);
    }
}
