//! `millrace secret` and `millrace variable`: what pipelines know by name.
//!
//! **Invariants**: a secret's value never stands on a command line, where other users of the
//! machine could read it, and is never printed.

use super::Place;
use super::hints::or_list;
use super::local::{self, Appliance};
use super::output::{Output, json_line};
use super::typed;
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use millrace_contract::v1;
use std::io::Write as _;
use std::path::PathBuf;

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub(super) enum SecretVerb {
    /// Sets a secret. Its value comes from standard input: a prompt on a terminal, or a pipe.
    Set(SetArgs),
    /// Lists the names of secrets; values are never shown.
    List(ListArgs),
    /// Removes a secret; steps that use it fail from then on.
    Remove(NameArgs),
}

/// What to do with variables.
#[derive(Debug, Subcommand)]
pub(super) enum VariableVerb {
    /// Lists variables with their values.
    List(ListArgs),
    /// Shows a variable's value, JSON.
    Get(NameArgs),
    /// Sets a variable.
    Set {
        #[command(flatten)]
        name: NameArgs,
        /// The value, JSON: 7, '"text"', '{"a": 1}'.
        value: String,
    },
    /// Removes a variable.
    Remove(NameArgs),
}

/// Which secret to set, and from where.
#[derive(Debug, Args)]
pub(super) struct SetArgs {
    #[command(flatten)]
    name: NameArgs,
    /// Takes the value from this file instead; a line break at its end is left out.
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
}

/// Which workspace to list.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The workspace.
    #[arg(default_value = "main")]
    workspace: String,
    #[command(flatten)]
    output: Output,
}

/// Which secret or variable.
#[derive(Debug, Args)]
pub(super) struct NameArgs {
    /// WORKSPACE/NAME, or NAME alone in the workspace main.
    name: String,
}

impl NameArgs {
    fn split(&self) -> (&str, &str) {
        self.name.split_once('/').unwrap_or(("main", &self.name))
    }
}

pub(super) fn run(place: &Place, verb: SecretVerb) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    match verb {
        SecretVerb::Set(args) => {
            let value = match &args.from_file {
                Some(file) => {
                    let name = || format!("read {}", file.display());
                    let opened = std::fs::File::open(file).with_context(name)?;
                    typed::read(opened).with_context(name)?
                }
                None => typed::secret("Value (it is not shown; end with Enter): ")?,
            };
            let value = checked(value)?;
            let (workspace, name) = args.name.split();
            let new = v1::NewSecret { value };
            let set = async { Ok(appliance.api.set_secret(workspace, name, &new).await?) };
            local::block_on(set).with_context(|| format!("set the secret {}", args.name.name))?;
            writeln!(std::io::stdout(), "Set {}.", args.name.name)?;
            Ok(())
        }
        SecretVerb::List(args) => {
            let all = async { Ok(appliance.api.secrets(&args.workspace).await?) };
            for secret in local::block_on(all).context("list the secrets")? {
                if args.output.is_json() {
                    json_line(&secret)?;
                } else {
                    let v1::Secret { name, at, by } = secret;
                    writeln!(std::io::stdout(), "{name:<32} {at}  {by}")?;
                }
            }
            Ok(())
        }
        SecretVerb::Remove(args) => {
            let (workspace, name) = args.split();
            let remove = async { Ok(appliance.api.remove_secret(workspace, name).await) };
            let removed = local::block_on(remove)?;
            or_list(removed, &format!("remove the secret {}", args.name), "millrace secret list")?;
            writeln!(std::io::stdout(), "Removed {}.", args.name)?;
            Ok(())
        }
    }
}

/// A value that can be set.
fn checked(value: String) -> anyhow::Result<String> {
    if value.is_empty() {
        bail!(
            "the value is empty; pipe it in, such as `printf %s \"$TOKEN\" | millrace secret set NAME`"
        );
    }
    Ok(value)
}

pub(super) fn run_variable(place: &Place, verb: VariableVerb) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    local::block_on(async {
        match verb {
            VariableVerb::List(args) => {
                let all = appliance.api.variables(&args.workspace).await;
                for variable in all.context("list the variables")? {
                    if args.output.is_json() {
                        json_line(&variable)?;
                    } else {
                        let (name, value) = (variable.name, variable.value.get());
                        writeln!(std::io::stdout(), "{name:<32} {value}")?;
                    }
                }
                Ok(())
            }
            VariableVerb::Get(args) => {
                let (workspace, name) = args.split();
                let found = appliance.api.variable(workspace, name).await;
                let found = found.with_context(|| format!("ask for the variable {}", args.name))?;
                let Some(variable) = found else {
                    bail!(
                        "there is no variable {}; `millrace variable list` shows them",
                        args.name
                    );
                };
                writeln!(std::io::stdout(), "{}", variable.value.get())?;
                Ok(())
            }
            VariableVerb::Set { name: args, value } => {
                let Ok(value) = serde_json::from_str(&value) else {
                    bail!("the value is no JSON; a text needs quotes: '\"text\"'");
                };
                let (workspace, name) = args.split();
                let new = v1::NewVariable { value };
                let set = appliance.api.set_variable(workspace, name, &new).await;
                set.with_context(|| format!("set the variable {}", args.name))?;
                writeln!(std::io::stdout(), "Set {}.", args.name)?;
                Ok(())
            }
            VariableVerb::Remove(args) => {
                let (workspace, name) = args.split();
                let doing = format!("remove the variable {}", args.name);
                // Removing what is not there is no fault of the API's; here it is a misspelt name.
                if appliance.api.variable(workspace, name).await.context(doing.clone())?.is_none() {
                    bail!(
                        "there is no variable {}; `millrace variable list` shows them",
                        args.name
                    );
                }
                let removed = appliance.api.remove_variable(workspace, name).await;
                removed.context(doing)?;
                writeln!(std::io::stdout(), "Removed {}.", args.name)?;
                Ok(())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_value_is_refused_with_a_way_that_works() {
        assert_eq!(checked("x".into()).unwrap(), "x");
        assert!(checked(String::new()).unwrap_err().to_string().contains("is empty; pipe it in"));
    }
}
