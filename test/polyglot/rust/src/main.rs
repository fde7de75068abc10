//! Serves one plugin over standard input and output: a line of JSON says what to host, and each further one is a call.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memcell_host::{Audience, Host, Limits, Request};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hosted {
    plugin: PathBuf,
    data_dir: PathBuf,
    sha256: Option<String>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    #[serde(default)]
    audience: Audience,
    context: Context,
    /// As it was written: what no Rust string can hold is the plugin's to refuse.
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    user_id: Option<String>,
    epoch_ms: Option<u64>,
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut lines = io::stdin().lines();
    let hosted: Hosted = serde_json::from_str(&lines.next().ok_or("nothing says what to host")??)?;
    let mut host = match Host::open(&hosted.plugin, &hosted.data_dir, hosted.sha256.as_deref(), &hosted.limits) {
        Ok(host) => host,
        Err(refusal) => return say(&refusal.envelope()).map(|()| Ok(ExitCode::FAILURE))?,
    };
    say(r#"{"ok":true}"#)?;
    for line in lines {
        let Call { tool, audience, context, input } = serde_json::from_str(&line?)?;
        let input = input.as_deref().map_or("null", RawValue::get);
        let (user_id, epoch_ms) = (context.user_id.as_deref(), context.epoch_ms);
        say(&host.call(&Request { tool: &tool, input, user_id, audience, epoch_ms }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// In one line: between the tokens of JSON a guest may have written any white space.
fn say(envelope: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{}", envelope.replace(['\n', '\r'], " "))
}
