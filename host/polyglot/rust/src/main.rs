//! Serves one plugin over standard input and output: the first line of JSON says what to host, and each further line is a call.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memcell_host::{Host, Limits};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

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
    audience: Option<String>,
    context: Context,
    /// Raw JSON: the plugin refuses text that a Rust string cannot hold.
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    user_id: Option<String>,
    epoch_ms: Option<u64>,
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut lines = io::stdin().lock().split(b'\n');
    let hosted: Hosted = serde_json::from_slice(&lines.next().ok_or("nothing says what to host")??)?;
    let mut host = match Host::open(&hosted.plugin, &hosted.data_dir, hosted.sha256.as_deref(), &hosted.limits) {
        Ok(host) => host,
        Err(refusal) => return say(&refusal.envelope()).map(|()| Ok(ExitCode::FAILURE))?,
    };
    say(&json!({ "ok": true }))?;
    for line in lines {
        let Ok(Call { tool, audience, context, input }) = serde_json::from_slice(&line?) else {
            let message = "Cannot call a tool: the line is no call";
            say(&json!({ "ok": false, "error": { "code": "INPUT_INVALID", "message": message } }))?;
            continue;
        };
        let (input, audience) =
            (input.as_deref().map_or("null", RawValue::get), audience.as_deref().unwrap_or("model"));
        let answer = host.call(&tool, input, context.user_id.as_deref(), audience, context.epoch_ms);
        say(&answer.unwrap_or_else(|refusal| refusal.envelope()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn say(answer: &Value) -> io::Result<()> {
    writeln!(io::stdout(), "{answer}")
}
