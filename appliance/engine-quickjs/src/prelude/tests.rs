//! The prelude against itself.

use super::*;

#[test]
fn compiles_and_guards_only_what_is_there() {
    // Given a plain context.
    compiled().expect("the prelude compiles");
    let runtime = Runtime::new().unwrap();
    let context = Context::full(&runtime).unwrap();
    // Then every row's natives exist, so that no guard stands in front of nothing.
    context.with(|ctx| {
        ctx.eval::<(), _>("globalThis.typedProto = Object.getPrototypeOf(Uint8Array.prototype); var getPrototypeOf = Object.getPrototypeOf;").unwrap();
        for Row(owner, _, _, names) in ROWS {
            for name in *names {
                let is_there: bool = ctx.eval(format!("typeof ({owner})['{name}'] === 'function'")).unwrap();
                assert!(is_there, "{owner}.{name}");
            }
        }
    });
}
