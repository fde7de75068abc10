//! Hosts a memcell plugin under the Extism Rust SDK: the capability ABI, version 1, over a folder for each user.
//!
//! A template to copy. A plugin has no network, no WASI, no environment, and no file but those of the scopes that its
//! manifest names for the tool, in the folder of the user on whose behalf the tool is called.
//!
//! What it leaves to you: quotas of a user's folder and of a call, an audit log, a queue, and a journal: a power cut between
//! two files of one call leaves the first. It runs a file that was judged before (`memcell audit`): pin it by its SHA-256.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::iter::once;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use extism::{CompiledPlugin, DebugOptions, Error, Function, PTR, Plugin, PluginBuilder, UserData, Wasm};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload};

const INPUT_BYTES_MAX: usize = 512 << 10;
const OUTPUT_BYTES_MAX: usize = 512 << 10;
const FILE_BYTES_MAX: u64 = 2 << 20;
const REQUESTS_MAX: usize = 10_000;
const REQUEST_BYTES_MAX: usize = 8 << 20;
/// Of a plugin's memory and of the SDK's own, in which requests and replies lie.
const MEMORY_BYTES_MAX: usize = 128 << 20;

/// A capability: its name, the right it needs and the keys of its request.
type Capability = (&'static str, &'static str, &'static [&'static str]);
const CAPABILITIES: [Capability; 5] = [
    ("store_read", "read", &["scope", "path"]),
    ("store_list", "list", &["scope", "prefix"]),
    ("store_write", "write", &["scope", "path", "content"]),
    ("store_trash", "trash", &["scope", "path"]),
    ("clock_now", "clock", &[]),
];
/// What a guest may report without having been told it.
#[rustfmt::skip]
const GUEST_CODES: [&str; 10] = [
    "INPUT_INVALID", "ENTRY_NOT_FOUND", "ENTRY_UNREADABLE", "NAME_RESERVED", "NAME_CONFLICT",
    "QUOTA_EXCEEDED", "CAPABILITY_DENIED", "GUEST_TRAPPED", "FUEL_EXHAUSTED", "MEMORY_EXCEEDED",
];

/// An error of the contract: a code, and words for a model that tell nothing of the machine.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn envelope(&self) -> String {
        json!({ "ok": false, "error": { "code": self.code, "message": self.message } }).to_string()
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Self::new("STORAGE_FULL", "Cannot use the user's folder: the disk is full")
            }
            ErrorKind::WouldBlock => Self::new("BUSY", "Cannot use the user's folder: it is in use"),
            ErrorKind::NotADirectory => {
                let message = "Cannot open the user's folder: something else lies in a folder's place";
                Self::new("STORAGE_UNSAFE", message)
            }
            _ => Self::new("STORAGE_FAILED", "Cannot use the user's folder: the disk refused"),
        }
    }
}

fn denied(message: impl Into<String>) -> Refusal {
    Refusal::new("CAPABILITY_DENIED", message)
}

/// What a host lowers of the manifest's limits.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub fuel_polls: Option<u64>,
    pub deadline_ms: Option<u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    #[default]
    Model,
    Host,
}

/// A call of a tool. The input is JSON text; without a time it is now.
#[derive(Debug, Default, Clone)]
pub struct Request<'a> {
    pub tool: &'a str,
    pub input: &'a str,
    pub user_id: Option<&'a str>,
    pub audience: Audience,
    pub epoch_ms: Option<u64>,
}

/// A tool, as the manifest tells of it. `input` is the JSON Schema to show to a model.
#[derive(Debug, Clone, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub input: Box<RawValue>,
    pub audience: Audience,
    export: String,
    scopes: Vec<String>,
    rights: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    abi: u32,
    tools: Vec<Tool>,
    deadline_ms: u64,
}

thread_local! {
    /// The call under way: the SDK binds functions once, for all calls, and calls them on the caller's thread.
    static PRESENT: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// A plugin, compiled once, and the folder of its users' data.
pub struct Host {
    pub tools: Vec<Tool>,
    compiled: CompiledPlugin,
    data: Dir,
    deadline: Duration,
}

impl Host {
    /// Refuses what is not the pinned file, or no plugin. A pin is a SHA-256 in hexadecimal digits.
    pub fn open(plugin: &Path, data: &Path, sha256: Option<&str>, limits: &Limits) -> Result<Self, Refusal> {
        let refused = |why| Refusal::new("PLUGIN_REFUSED", format!("Cannot load the plugin: {why}"));
        let wasm = std::fs::read(plugin).map_err(|_| refused("it cannot be read"))?;
        if sha256.is_some_and(|pin| pin != format!("{:x}", Sha256::digest(&wasm))) {
            return Err(refused("it is another file than the pinned one"));
        }
        let manifest = manifest_of(&wasm).ok_or_else(|| refused("it has not one manifest of ABI version 1"))?;
        let deadline = Duration::from_millis(limits.deadline_ms.unwrap_or(u64::MAX).min(manifest.deadline_ms));
        let compiled = compile(&wasm, deadline, limits.fuel_polls);
        // Linked once, so that a file that wants more is refused now.
        let linked = compiled.and_then(|compiled| Plugin::new_from_compiled(&compiled).map(|_| compiled));
        let compiled = linked.map_err(|_| refused("it cannot be compiled or linked"))?;
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700).create(data)?;
        let data = Dir::open_ambient_dir(data, ambient_authority())?; // the operator's choice: may be a link
        Ok(Self { tools: manifest.tools, compiled, data, deadline })
    }

    /// The call's envelope, in JSON. One call at a time: the engine's clock would end all calls of a plugin at once.
    pub fn call(&mut self, request: &Request) -> String {
        self.perform(request).unwrap_or_else(|refusal| refusal.envelope())
    }

    fn perform(&self, request: &Request) -> Result<String, Refusal> {
        let offered = || self.tools.iter().filter(|tool| tool.audience == request.audience);
        let Some(tool) = offered().find(|tool| tool.name == request.tool) else {
            let (name, allowed) = (quoted(request.tool), offered().map(|tool| &*tool.name).collect::<Vec<_>>());
            let message = format!("Cannot call {name}: no such tool, allowed: {}", allowed.join(", "));
            return Err(Refusal::new("TOOL_UNKNOWN", message));
        };
        let missing = "Cannot call a tool: ctx.userId is missing, every call needs a user";
        let user_id = request.user_id.ok_or_else(|| Refusal::new("USER_REQUIRED", missing))?;
        check_user_id(user_id)?;
        if request.input.len() > INPUT_BYTES_MAX {
            let (value, allowed) =
                (format!("{} bytes of JSON", request.input.len()), format!("at most {INPUT_BYTES_MAX} bytes"));
            let message = format!("Cannot call {}: input is {value}, allowed: {allowed}", tool.name);
            let issues = json!([{ "field": "input", "value": value, "allowed": allowed }]);
            let error = json!({ "code": "INPUT_INVALID", "message": message, "issues": issues });
            return Ok(json!({ "ok": false, "error": error }).to_string());
        }
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let may_change = tool.rights.iter().any(|right| right == "write" || right == "trash");
        self.run(
            Call {
                tool: tool.clone(),
                files: UserFiles::open(&self.data, user_id, may_change)?,
                epoch_ms: request.epoch_ms.unwrap_or_else(now),
                staged: BTreeMap::new(),
                requests: 0,
                told: BTreeSet::new(),
                decided: None,
            },
            request.input,
        )
    }

    /// Runs the tool on an instance of its own: nothing that a former call has left in memory is there.
    fn run(&self, call: Call, input: &str) -> Result<String, Refusal> {
        let lost = || Refusal::new("INTERNAL", "Cannot call a tool: the engine makes no instance");
        let Tool { name, export, .. } = call.tool.clone();
        let start = Instant::now();
        let mut instance = Plugin::new_from_compiled(&self.compiled).map_err(|_| lost())?;
        PRESENT.set(Some(call));
        // Of the SDK's ways to call, the one that makes an error of a code other than 0.
        let outcome = instance.call::<&str, Vec<u8>>(&export, input);
        let mut call = PRESENT.take().ok_or_else(lost)?;
        // By this clock, not by the error's text, which a guest can choose.
        if start.elapsed() >= self.deadline {
            let message = format!("Cannot finish {name}: it ran for over {} ms", self.deadline.as_millis());
            return Err(Refusal::new("DEADLINE_EXCEEDED", message));
        }
        if let Some(refusal) = call.decided {
            return Err(refusal);
        }
        match outcome {
            Ok(output) => {
                let text = judged_output(&name, output)?;
                call.files.apply(&call.staged)?;
                Ok(text)
            }
            // What the guest has given to error_set; of a trap, the engine's words.
            Err(error) => judged_error(&name, error.to_string(), &call.told),
        }
    }
}

/// The one custom section `memcell:manifest`. What else is in the file, was judged before.
fn manifest_of(wasm: &[u8]) -> Option<Manifest> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.ok()? {
            Payload::CustomSection(section) if section.name() == "memcell:manifest" => found.push(section.data()),
            _ => {}
        }
    }
    let [text] = found[..] else { return None };
    serde_json::from_slice(text).ok().filter(|manifest: &Manifest| manifest.abi == 1)
}

/// The engine with nothing but the kernel and the five capabilities to link, and nothing from the environment.
fn compile(wasm: &[u8], deadline: Duration, fuel_polls: Option<u64>) -> Result<CompiledPlugin, Error> {
    let mut hosted = extism::Manifest::new([Wasm::data(wasm)]).with_timeout(deadline);
    if let Some(polls) = fuel_polls {
        hosted = hosted.with_config_key("memcell.fuelPolls", polls.to_string());
    }
    // The SDK's own limit traps where a module would be told that there is no more; one for each memory does not. The SDK
    // makes two instances for a call of the plugin, and two of the kernel.
    let mut pool = wasmtime::PoolingAllocationConfig::new();
    pool.max_memory_size(MEMORY_BYTES_MAX).total_memories(4).total_core_instances(4).total_tables(4);
    let mut config = wasmtime::Config::new();
    config.allocation_strategy(pool);
    let profiling_strategy = wasmtime::ProfilingStrategy::None;
    PluginBuilder::new(hosted)
        .with_wasi(false)
        .with_functions(CAPABILITIES.map(bind))
        .with_wasmtime_config(config)
        // A cache is code that runs unchecked; dumps hold users' data. The environment would switch them on.
        .with_cache_disabled()
        .with_debug_options(DebugOptions { profiling_strategy, coredump: None, memdump: None, debug_info: false })
        .compile()
}

fn bind(capability: Capability) -> Function {
    Function::new(capability.0, [PTR], [PTR], UserData::new(()), move |plugin, inputs, outputs, _| {
        // A hostile guest can forge the length of a block, which the SDK believes.
        let block = plugin.memory_from_val(&inputs[0]).filter(|block| block.len() <= REQUEST_BYTES_MAX);
        let request: Vec<u8> = block.map_or(Ok(Vec::new()), |block| plugin.memory_get(block))?;
        let reply = PRESENT.with_borrow_mut(|call| call.as_mut().map(|call| call.answer(capability, &request)));
        plugin.memory_set_val(&mut outputs[0], reply.ok_or_else(|| Error::msg("no call is under way"))?)
    })
    .with_namespace("extism:host/user")
}

/// By scope and path.
type Staged = BTreeMap<(String, String), Change>;

enum Change {
    Written(String),
    /// The file of the disk that was at this path of the scope.
    Moved(String),
    Gone,
}

/// What the capabilities work on during one call. Changes are staged, so that a failed call leaves no trace.
struct Call {
    tool: Tool,
    files: UserFiles,
    epoch_ms: u64,
    staged: Staged,
    requests: usize,
    told: BTreeSet<&'static str>,
    /// The first refusal that decides the call, whatever the guest says afterwards.
    decided: Option<Refusal>,
}

impl Call {
    fn answer(&mut self, capability: Capability, request: &[u8]) -> String {
        let refusal = match self.perform(capability, request) {
            Ok(reply) => return reply.to_string(),
            Err(refusal) => refusal,
        };
        let envelope = refusal.envelope();
        self.told.insert(refusal.code);
        if ["CAPABILITY_DENIED", "STORAGE_FULL", "STORAGE_FAILED"].contains(&refusal.code) {
            self.decided.get_or_insert(refusal);
        }
        envelope
    }

    /// The request is held against the ABI and the grant before any file is looked at.
    fn perform(&mut self, (name, right, keys): Capability, request: &[u8]) -> Result<Value, Refusal> {
        let refused = |why: &str| denied(format!("Cannot call {name}: {why}"));
        self.requests += 1;
        if self.requests > REQUESTS_MAX {
            return Err(refused(&format!("this call has asked {REQUESTS_MAX} times, no more is allowed")));
        }
        if !self.tool.rights.iter().any(|granted| granted == right) {
            return Err(refused(&format!("this call is not granted \"{right}\"")));
        }
        // By way of a `Value`, which keeps the last of two equal keys.
        let request: Value = serde_json::from_slice(request).map_err(|_| refused("the request is not JSON"))?;
        let is_there = |fields: &BTreeMap<_, _>| keys.iter().all(|key| *key == "prefix" || fields.contains_key(*key));
        let fields = match serde_json::from_value::<BTreeMap<String, String>>(request) {
            Ok(fields) if fields.keys().all(|key| keys.contains(&&**key)) && is_there(&fields) => fields,
            _ => return Err(refused("the request has not the form that ABI version 1 gives it")),
        };
        let [scope, path, content, prefix] =
            ["scope", "path", "content", "prefix"].map(|key| fields.get(key).map_or("", String::as_str));
        if keys.contains(&"scope") && !self.tool.scopes.iter().any(|granted| granted == scope) {
            let granted: Vec<_> = self.tool.scopes.iter().map(|scope| quoted(scope)).collect();
            let message = format!("Cannot use scope {}: this call is granted {}", quoted(scope), granted.join(", "));
            return Err(denied(message));
        }
        if keys.contains(&"path") {
            check_path(path)?;
        }
        if ["write", "trash"].contains(&right) && is_trash(path) {
            let message = format!("Cannot change {}: what lies in trash/ is not a tool's to change", quoted(path));
            return Err(denied(message));
        }
        match name {
            "store_read" => self.store_read(scope, path),
            "store_list" => self.store_list(scope, prefix),
            "store_write" => self.store_write(scope, path, content),
            "store_trash" => self.store_trash(scope, path),
            _ => Ok(json!({ "ok": true, "epochMs": self.epoch_ms })),
        }
    }

    fn store_read(&self, scope: &str, path: &str) -> Result<Value, Refusal> {
        let text = self.content(scope, path)?.map(String::from_utf8).transpose().map_err(|_| {
            Refusal::new("ENTRY_UNREADABLE", format!("Cannot read {}: it is not UTF-8 text", quoted(path)))
        })?;
        Ok(json!({ "ok": true, "content": text }))
    }

    fn store_list(&self, scope: &str, prefix: &str) -> Result<Value, Refusal> {
        if !prefix.is_empty() && !is_path(prefix.strip_suffix('/').unwrap_or(prefix)) {
            return Err(denied(format!("Cannot list {}: it is not the beginning of a path", quoted(prefix))));
        }
        let on_disk = self.files.sizes(scope)?;
        let mut sizes = on_disk.clone();
        for ((_, path), change) in self.staged.iter().filter(|((of, _), _)| of == scope) {
            match change {
                Change::Written(text) => sizes.insert(path.clone(), text.len() as u64),
                Change::Moved(origin) => on_disk.get(origin).and_then(|size| sizes.insert(path.clone(), *size)),
                Change::Gone => sizes.remove(path),
            };
        }
        let is_asked = |path: &str| path.starts_with(prefix) && (is_trash(prefix) || !is_trash(path));
        let asked = sizes.iter().filter(|(path, _)| is_asked(path));
        let entries: Vec<_> = asked.map(|(path, bytes)| json!({ "path": path, "bytes": bytes })).collect();
        Ok(json!({ "ok": true, "entries": entries }))
    }

    fn store_write(&mut self, scope: &str, path: &str, content: &str) -> Result<Value, Refusal> {
        self.content(scope, path)?; // refuses what must not be replaced
        let found = content.len();
        if found as u64 > FILE_BYTES_MAX {
            let message =
                format!("Cannot write {}: it is {found} bytes, at most {FILE_BYTES_MAX} allowed", quoted(path));
            return Err(Refusal::new("QUOTA_EXCEEDED", message));
        }
        self.staged.insert((scope.into(), path.into()), Change::Written(content.into()));
        Ok(json!({ "ok": true }))
    }

    fn store_trash(&mut self, scope: &str, path: &str) -> Result<Value, Refusal> {
        if self.content(scope, path)?.is_none() {
            return Err(denied(format!("Cannot trash {}: no such file", quoted(path))));
        }
        let name_at = path.rfind('/').map_or(0, |at| at + 1);
        let dot_at = path.rfind('.').filter(|at| *at > name_at).unwrap_or(path.len());
        let (base, ending) = path.split_at(dot_at);
        let stamp = utc_stamp(self.epoch_ms);
        let mut number = 1;
        let trashed = loop {
            let mark = if number == 1 { String::new() } else { format!("-{number}") };
            let place = format!("trash/{base}.{stamp}{mark}{ending}");
            check_path(&place)?;
            if self.content(scope, &place)?.is_none() {
                break place;
            }
            number += 1;
        };
        let moved = self.staged.insert((scope.into(), path.into()), Change::Gone);
        let moved = moved.unwrap_or_else(|| Change::Moved(path.into()));
        self.staged.insert((scope.into(), trashed.clone()), moved);
        Ok(json!({ "ok": true, "trashed": trashed }))
    }

    /// A file as this call sees it.
    fn content(&self, scope: &str, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        match self.staged.get(&(scope.into(), path.into())) {
            None => self.files.read(scope, path),
            Some(Change::Moved(origin)) => self.files.read(scope, origin),
            Some(Change::Written(text)) => Ok(Some(text.clone().into_bytes())),
            Some(Change::Gone) => Ok(None),
        }
    }
}

/// One user's files during one call, reached through open folders only: no path is joined, and no link followed.
struct UserFiles {
    data: Dir,
    folder_name: String,
    /// Nobody has written anything for a user without one.
    user: Option<Dir>,
    /// The hosts' own folder, and its lock: held from before the first read until the changes are applied.
    own: Option<(Dir, File)>,
}

impl UserFiles {
    fn open(data: &Dir, user_id: &str, may_change: bool) -> Result<Self, Refusal> {
        let folder_name = folder_name(user_id);
        let user = present(enter(data, ["users", &folder_name], false))?;
        let own = user.as_ref().filter(|_| may_change).map(lock).transpose()?;
        Ok(Self { data: data.try_clone()?, folder_name, user, own })
    }

    /// The folder that a file lies in, and its name there.
    fn parent<'p>(&self, scope: &'p str, path: &'p str, make: bool) -> io::Result<(Dir, &'p str)> {
        let mut names: Vec<_> = once(scope).chain(path.split('/')).collect();
        let name = names.pop().unwrap_or_default();
        let user = self.user.as_ref().ok_or(ErrorKind::NotFound)?;
        Ok((enter(user, names, make)?, name))
    }

    fn read(&self, scope: &str, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        // Without `nonblock`, opening a pipe would wait for who writes into it.
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let opened = self.parent(scope, path, false).and_then(|(folder, name)| folder.open_with(name, &options));
        let refused = |why| Refusal::new("STORAGE_UNSAFE", format!("Cannot use {}: {why}", quoted(path)));
        let file = match present(opened) {
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(refused("a link is in its place".into()));
            }
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                return Err(refused("it is not a regular file".into()));
            }
            opened => match opened? {
                None => return Ok(None),
                Some(file) => file,
            },
        };
        if let Some(why) = unfit(&file.metadata()?) {
            return Err(refused(why));
        }
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The bytes of every file of a scope, without what could not be read.
    fn sizes(&self, scope: &str) -> io::Result<BTreeMap<String, u64>> {
        fn walk(folder: &Dir, prefix: &str, found: &mut BTreeMap<String, u64>) -> io::Result<()> {
            for entry in folder.entries()? {
                let entry = entry?;
                let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
                let Some(metadata) = present(entry.metadata())?.filter(|_| is_path(&path)) else { continue };
                if metadata.is_dir() {
                    walk(&enter(folder, [&path[prefix.len()..]], false)?, &format!("{path}/"), found)?;
                } else if unfit(&metadata).is_none() {
                    found.insert(path, metadata.len());
                }
            }
            Ok(())
        }
        let mut found = BTreeMap::new();
        if let Some((folder, _)) = present(self.parent(scope, "*", false))? {
            walk(&folder, "", &mut found)?;
        }
        Ok(found)
    }

    /// Moves, then removals of what was written over and then moved away, then writes.
    fn apply(&mut self, staged: &Staged) -> io::Result<()> {
        if staged.is_empty() {
            return Ok(());
        }
        let (own, _) = match self.own.take() {
            Some(own) => own,
            None => {
                // Nobody had ever written when this call began.
                let user = enter(&self.data, ["users", &self.folder_name], true)?;
                let own = lock(&user)?;
                if user.entries()?.count() > 1 {
                    return Err(ErrorKind::WouldBlock.into()); // somebody else was first
                }
                self.user = Some(user);
                own
            }
        };
        for ((scope, path), change) in staged {
            if let Change::Moved(origin) = change {
                let ((source, name), (folder, target)) =
                    (self.parent(scope, origin, false)?, self.parent(scope, path, true)?);
                source.rename(name, &folder, target)?;
                sync(&folder)?;
            }
        }
        for ((scope, path), change) in staged {
            if let Change::Gone = change {
                present(self.parent(scope, path, false).and_then(|(folder, name)| folder.remove_file(name)))?;
            }
        }
        for ((scope, path), change) in staged {
            if let Change::Written(text) = change {
                let (folder, name) = self.parent(scope, path, true)?;
                replace(&own, &folder, name, text)?;
            }
        }
        Ok(())
    }
}

/// A crash leaves the old file or the new one, whole.
fn replace(own: &Dir, folder: &Dir, name: &str, text: &str) -> io::Result<()> {
    present(own.remove_file("new"))?;
    let mut file = own.open_with("new", OpenOptions::new().write(true).create_new(true).mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    own.rename("new", folder, name)?;
    sync(folder)
}

/// A `Dir` is a handle that nothing can be flushed through; the folder opened as a file can.
fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Opens a folder below another, one name at a time: cap-std does not leave a folder, but follows links that stay in it.
fn enter<'n>(from: &Dir, names: impl IntoIterator<Item = &'n str>, make: bool) -> io::Result<Dir> {
    let mut folder = from.try_clone()?;
    for name in names {
        if make {
            match folder.create_dir_with(name, DirBuilder::new().mode(0o700)) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        folder = folder.open_dir_nofollow(name)?;
    }
    Ok(folder)
}

/// Keeps every other host out until the call is over, or is BUSY: the caller may come back.
fn lock(user: &Dir) -> io::Result<(Dir, File)> {
    let own = enter(user, [".memcell"], true)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600).nonblock(true).follow(FollowSymlinks::No);
    let file = own.open_with("lock", &options)?;
    // Unlike a classic lock it belongs to the open file, so that no other close in this process gives it back. Linux only.
    let (l_type, l_whence) = (libc::F_WRLCK as i16, libc::SEEK_SET as i16);
    fcntl(&file, FcntlArg::F_OFD_SETLK(&libc::flock { l_type, l_whence, l_start: 0, l_len: 0, l_pid: 0 }))?;
    Ok((own, file))
}

/// Why a file is not used: a second name may be another user's, and a giant may be sparse.
fn unfit(metadata: &Metadata) -> Option<String> {
    let (names, bytes) = (metadata.nlink(), metadata.len());
    match () {
        _ if metadata.is_symlink() => Some("a link is in its place".into()),
        _ if !metadata.is_file() => Some("it is not a regular file".into()),
        _ if names != 1 => Some(format!("it has {names} names on the disk, only 1 is allowed")),
        _ if bytes > FILE_BYTES_MAX => Some(format!("it is {bytes} bytes, at most {FILE_BYTES_MAX} allowed")),
        _ => None,
    }
}

/// Another one for each user id, on every kind of disk, and never a path.
fn folder_name(user_id: &str) -> String {
    let stem = user_id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port = matches!(stem.as_bytes(), [b'c', b'o', b'm', b'0'..=b'9'] | [b'l', b'p', b't', b'0'..=b'9']);
    let is_device = is_port || ["con", "prn", "aux", "nul"].contains(&&*stem);
    let mut name = String::new();
    for (at, byte) in user_id.bytes().enumerate() {
        let is_end = at == 0 || at + 1 == user_id.len();
        let is_odd = is_device && at == 0 || is_end && byte == b'.';
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'@' | b'-' if !is_odd => name.push(byte.into()),
            _ => name += &format!("%{byte:02X}"),
        }
    }
    if name.len() > 191 {
        let mark = format!("%~{:x}", Sha256::digest(user_id));
        name.truncate(191 - mark.len());
        name += &mark;
    }
    name
}

/// The grammar of paths. It has no `.`, no `..`, nothing absolute, and no name that begins with a dot.
fn is_path(path: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_name = |name: &str| name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c == '.');
    path.len() <= 255 && path.split('/').all(is_name)
}

fn check_path(path: &str) -> Result<(), Refusal> {
    if is_path(path) {
        return Ok(());
    }
    let allowed = r#"allowed are relative paths inside the scope, without "." and "..""#;
    Err(denied(format!("Cannot use path {}: {allowed}", quoted(path))))
}

/// In any case: some disks do not tell TRASH from trash.
fn is_trash(path: &str) -> bool {
    path.split('/').next().is_some_and(|first| first.eq_ignore_ascii_case("trash"))
}

/// As in `20231114T221320000Z`.
fn utc_stamp(epoch_ms: u64) -> String {
    // Years that begin in March end with the leap day; 719,468 days before 1970 one of them began a cycle of 400 years.
    let (days, ms) = (epoch_ms / 86_400_000 + 719_468, epoch_ms % 86_400_000);
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let (year, hour, minute, ms) = (cycle * 400 + year, ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{ms:05}Z")
}

fn check_user_id(user_id: &str) -> Result<(), Refusal> {
    let is_odd = |c: char| c.is_control() || c == '/' || c == '\\';
    let is_named = (1..=128).contains(&user_id.len()) && user_id != "." && user_id != "..";
    if is_named && !user_id.contains(is_odd) && user_id.trim().trim_matches('\u{feff}') == user_id {
        return Ok(());
    }
    let allowed = r#"1 to 128 bytes without control characters, "/", "\", leading or trailing space, and other than "." and "..""#;
    let message = format!("Cannot call a tool: ctx.userId is {}, allowed: {allowed}", quoted(user_id));
    Err(Refusal::new("USER_INVALID", message))
}

/// A text that somebody else has chosen, so that it can neither end the quotation nor hide or turn what is around.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".into(),
        _ if !is_invisible(c) => c.into(),
        '\u{10000}'.. => format!("\\u{{{:x}}}", u32::from(c)),
        _ => format!("\\u{:04x}", u32::from(c)),
    };
    let cut = if text.chars().nth(60).is_some() { "…" } else { "" };
    format!("\"{}{cut}\"", text.chars().take(60).map(escaped).collect::<String>())
}

/// Categories Cc, Cf, Zl and Zp of Unicode 17; a `char` is never of Cs.
#[rustfmt::skip]
fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
        | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Success {
    ok: bool,
    #[serde(rename = "message")]
    _message: String,
    #[serde(rename = "data")]
    _data: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    ok: bool,
    error: Fault,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    code: String,
    #[serde(rename = "message")]
    _message: String,
    #[serde(rename = "issues")]
    _issues: Option<IgnoredAny>,
}

fn judged_output(name: &str, output: Vec<u8>) -> Result<String, Refusal> {
    if output.len() > OUTPUT_BYTES_MAX {
        let found = format!("its answer is {} bytes, at most {OUTPUT_BYTES_MAX} allowed", output.len());
        return Err(Refusal::new("OUTPUT_TOO_LARGE", format!("Cannot finish {name}: {found}")));
    }
    let envelope = serde_json::from_slice::<Value>(&output).and_then(serde_json::from_value::<Success>);
    String::from_utf8(output).ok().filter(|_| envelope.is_ok_and(|envelope| envelope.ok)).ok_or_else(|| {
        let message = format!("Cannot use the answer of {name}: its output is not a success envelope");
        Refusal::new("OUTPUT_INVALID", message)
    })
}

fn judged_error(name: &str, text: String, told: &BTreeSet<&str>) -> Result<String, Refusal> {
    let crashed = |_| Refusal::new("GUEST_TRAPPED", format!("Cannot finish {name}: the plugin's code crashed"));
    let envelope: Value = serde_json::from_str(&text).map_err(crashed)?;
    let failure = serde_json::from_value::<Failure>(envelope).ok().filter(|failure| !failure.ok);
    let is_code =
        |code: &String| (1..=64).contains(&code.len()) && code.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
    let why = match failure.map(|failure| failure.error.code).filter(is_code) {
        None => "its error is not a failed envelope".into(),
        Some(code) if GUEST_CODES.contains(&&*code) || told.contains(&*code) => return Ok(text),
        Some(code) => format!("it reports {code}, which nobody told it"),
    };
    Err(Refusal::new("OUTPUT_INVALID", format!("Cannot use the answer of {name}: {why}")))
}
