//! How many files and sockets this process may have open.
//!
//! Systems start services with a low limit that the process itself may raise up to a high one.
//!
//! **Invariants**: the limit is only raised, never lowered.

use std::io;

/// Raises the limit to `wanted`, or to as much as the system allows; answers the limit now.
///
/// # Errors
/// The operating system's.
#[cfg(unix)]
pub fn allow_open_files(wanted: u64) -> io::Result<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    // `None` is no limit at all.
    let (Some(current), most) = (limit.current, limit.maximum.unwrap_or(u64::MAX)) else {
        return Ok(u64::MAX);
    };
    let raised = wanted.min(most);
    if raised <= current {
        return Ok(current);
    }
    limit.current = Some(raised);
    setrlimit(Resource::Nofile, limit)?;
    Ok(raised)
}

/// Sockets and files are not limited in this way here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn allow_open_files(_wanted: u64) -> io::Result<u64> {
    Ok(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_and_never_lowers() {
        let now = allow_open_files(1).expect("the limit");
        assert!(now > 1);
        assert!(allow_open_files(now).expect("the limit") >= now);
    }
}
