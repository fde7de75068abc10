//! Puts agentool's memory tools behind lines of JSON: each call on standard input is answered with what the crate's tool answers.
//!
//! Arguments: the workspace's folder, and the memory folder in it. A line is `{"tool": …, "params": …}`, its answer the success
//! envelope or `{"code": …, "message": …}`.

use std::env;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use agentool::Tool;
use agentool::memory::{MemoryContext, all_tools};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args_os().skip(1);
    let workspace = arguments.next().ok_or("nothing says which workspace")?;
    let memory_folder = arguments.next().ok_or("nothing says which folder in it has the memory")?;
    let context = MemoryContext::with_memory_dir_relative(Some(workspace.into()), false, Path::new(&memory_folder))?;
    let tools = all_tools(Arc::new(context));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for line in io::stdin().lock().split(b'\n') {
        let mut call: Value = serde_json::from_slice(&line?)?;
        let tool = called(&tools, &call)?;
        let answer = match runtime.block_on(tool.execute(call["params"].take())) {
            Ok(envelope) => envelope,
            Err(error) => json!({ "code": error.code, "message": error.message }),
        };
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

fn called<'a>(tools: &'a [Arc<dyn Tool>], call: &Value) -> Result<&'a dyn Tool, String> {
    let found = tools.iter().find(|tool| call["tool"] == tool.name());
    found.map(AsRef::as_ref).ok_or_else(|| format!("there is no tool {}", call["tool"]))
}
