//! Hosts a memcell plugin under the Extism Rust SDK: the capability ABI, version 1, over a folder for each user.
//!
//! Copy this file. A plugin gets no network, no WASI and no environment. Its only files are those of the scopes that its
//! manifest names for the tool, in the folder of the call's user.
//!
//! This host leaves to you: quotas for a user's folder and for a call, an audit log, a queue, and a write-ahead log (a power
//! cut between two files of one call keeps only the first). Audit a plugin file first (`memcell audit`), and pin it by its
//! SHA-256. Run a plugin that nobody has reviewed in its own process: WebAssembly that forges the lengths of the SDK's blocks
//! can make the SDK read past their memory, which ends the process.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use extism::{CompiledPlugin, DebugOptions, Error, Function, PTR, Plugin, PluginBuilder, UserData, Wasm};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload};

/// The most bytes of an input, and of an answer.
const JSON_BYTES_MAX: usize = 512 << 10;
const FILE_BYTES_MAX: u64 = 2 << 20;
const REQUESTS_MAX: usize = 10_000;
const REQUEST_BYTES_MAX: usize = 8 << 20;
/// The most pages of a plugin's memory, and of the SDK's memory, which holds requests and replies.
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
/// The first of these codes ends the call, whatever the guest answers afterwards.
const FINAL_CODES: [&str; 4] = ["CAPABILITY_DENIED", "STORAGE_FULL", "STORAGE_FAILED", "STORAGE_BUSY"];
/// Codes that a guest may report on its own, besides those that its manifest declares.
#[rustfmt::skip]
const GUEST_CODES: [&str; 11] = [
    "INPUT_INVALID", "ENTRY_NOT_FOUND", "ENTRY_UNREADABLE", "NAME_RESERVED", "NAME_CONFLICT",
    "VERSION_CONFLICT", "QUOTA_EXCEEDED", "CAPABILITY_DENIED", "GUEST_TRAPPED", "FUEL_EXHAUSTED", "MEMORY_EXCEEDED",
];

/// An error of the contract: a code, and a message for a model that reveals nothing about the machine.
#[derive(Debug)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
    /// What a guest can still read of a file.
    readable: Option<String>,
}

impl Refusal {
    pub fn envelope(&self) -> Value {
        let mut envelope = json!({ "ok": false, "error": { "code": self.code, "message": self.message } });
        if let Some(text) = &self.readable {
            envelope["readable"] = json!(text);
        }
        envelope
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        const SHORT: &str = "the machine is short of open files or memory";
        let (code, verb, why) = match error.kind() {
            _ if is_short(&error) => ("STORAGE_BUSY", "use", SHORT),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ("STORAGE_FULL", "use", "the disk is full"),
            ErrorKind::NotADirectory => ("STORAGE_UNSAFE", "open", "something else is in a folder's place"),
            ErrorKind::WouldBlock => ("BUSY", "use", "it is in use"),
            _ => ("STORAGE_FAILED", "use", "the disk refused"),
        };
        Self { code, message: format!("Cannot {verb} the user's folder: {why}"), readable: None }
    }
}

fn is_short(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM))
}

/// The guest's envelope or the reply to its request, or else the host's refusal.
pub type Answer = Result<Value, Refusal>;

fn refuse<T>(code: &'static str, message: String) -> Result<T, Refusal> {
    Err(Refusal { code, message, readable: None })
}

fn deny<T>(message: String) -> Result<T, Refusal> {
    refuse("CAPABILITY_DENIED", message)
}

/// What can be read of bytes that are not UTF-8: each run of other bytes is one U+FFFD. UTF-16 that begins with a byte order
/// mark is decoded.
fn readable(content: &[u8]) -> String {
    let units = |of: fn([u8; 2]) -> u16| {
        let pairs = content[2..].chunks(2);
        let found: Vec<_> = pairs.map(|pair| pair.try_into().map_or(0xfffd, of)).collect();
        String::from_utf16_lossy(&found)
    };
    let mut text = match content {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => String::from_utf8_lossy(content).into_owned(),
    };
    while text.contains("\u{fffd}\u{fffd}") {
        text = text.replace("\u{fffd}\u{fffd}", "\u{fffd}");
    }
    text
}

/// Limits that lower the manifest's.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub fuel_polls: Option<u64>,
    pub deadline_ms: Option<u64>,
}

/// `input` is the JSON Schema to show to a model.
#[derive(Clone, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub input: Value,
    pub audience: String,
    export: String,
    scopes: Vec<String>,
    rights: BTreeSet<String>,
}

thread_local! {
    /// The running call. The SDK binds functions once for all calls, and calls them on the caller's thread.
    static PRESENT: std::cell::RefCell<Option<Call>> = const { std::cell::RefCell::new(None) };
}

/// A compiled plugin and the folder of its users' data.
pub struct Host {
    pub tools: Vec<Tool>,
    /// Error codes that the plugin declares.
    codes: Vec<String>,
    compiled: CompiledPlugin,
    data: Dir,
    deadline: Duration,
}

impl Host {
    /// Refuses a file that is not the pinned one, or not a plugin. `sha256` is in hexadecimal digits.
    pub fn open(plugin: &Path, data: &Path, sha256: Option<&str>, limits: &Limits) -> Result<Self, Refusal> {
        let refused = |why| refuse("PLUGIN_REFUSED", format!("Cannot load the plugin: {why}"));
        let Ok(wasm) = std::fs::read(plugin) else { return refused("it cannot be read") };
        if sha256.is_some_and(|pin| pin != format!("{:x}", Sha256::digest(&wasm))) {
            return refused("it is not the pinned file");
        }
        let Some((tools, codes, deadline_ms)) = manifest_of(&wasm) else {
            return refused("it does not have exactly one manifest of ABI version 1");
        };
        let deadline = Duration::from_millis(limits.deadline_ms.map_or(deadline_ms, |ms| ms.min(deadline_ms)));
        let linked =
            compile(&wasm, deadline, limits.fuel_polls).ok().filter(|it| Plugin::new_from_compiled(it).is_ok());
        let Some(compiled) = linked else { return refused("it cannot be compiled or linked") };
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700).create(data)?;
        let data = Dir::open_ambient_dir(data, cap_std::ambient_authority())?; // the operator's choice, so it may be a link
        Ok(Self { tools, codes, compiled, data, deadline })
    }

    /// Returns the plugin's answer, which can be an error of the plugin. `input` is JSON text. `audience` is `model`, or
    /// `host` for tools that are not offered to models. Calls run one at a time, because the engine's clock ends all calls
    /// of a plugin at once.
    pub fn call(&mut self, name: &str, input: &str, user: Option<&str>, audience: &str, at_ms: Option<u64>) -> Answer {
        let tools = self.tools.iter().filter(|tool| tool.audience == audience);
        let Some(tool) = tools.clone().find(|tool| tool.name == name) else {
            let (name, allowed) = (quoted(name), tools.map(|tool| &*tool.name).collect::<Vec<_>>().join(", "));
            return refuse("TOOL_UNKNOWN", format!("Cannot call {name}: no such tool, allowed: {allowed}"));
        };
        let user_id = check_user_id(user)?;
        if input.len() > JSON_BYTES_MAX {
            let (found, most) = (format!("{} bytes of JSON", input.len()), format!("at most {JSON_BYTES_MAX} bytes"));
            let message = format!("Cannot call {name}: input is {found}, allowed: {most}");
            let mut envelope = Refusal { code: "INPUT_INVALID", message, readable: None }.envelope();
            envelope["error"]["issues"] = json!([{ "field": "input", "value": found, "allowed": most }]);
            return Ok(envelope);
        }
        let may_change = tool.rights.contains("write") || tool.rights.contains("trash");
        let files = UserFiles::open(&self.data, user_id, may_change)?;
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let (tool, epoch_ms) = (tool.clone(), at_ms.unwrap_or_else(now));
        let (export, start) = (tool.export.clone(), Instant::now());
        PRESENT.set(Some(Call { tool, files, epoch_ms, staged: BTreeMap::new(), requests: 0, refusals: Vec::new() }));
        // A new instance, so that nothing in memory is left from an earlier call. This way to call turns a code other than 0
        // into an error.
        let outcome =
            Plugin::new_from_compiled(&self.compiled).and_then(|mut it| it.call::<&str, Vec<u8>>(&export, input));
        let Some(mut call) = PRESENT.take() else { return refuse("INTERNAL", "Cannot call a tool: it is lost".into()) };
        // Measured here, because a guest can choose the error's text.
        if start.elapsed() >= self.deadline {
            let found = format!("it ran for over {} ms", self.deadline.as_millis());
            return refuse("DEADLINE_EXCEEDED", format!("Cannot finish {name}: {found}"));
        }
        let is_final = |refusal: &Refusal| FINAL_CODES.contains(&refusal.code);
        if let Some(at) = call.refusals.iter().position(is_final) {
            return Err(call.refusals.swap_remove(at));
        }
        let is_told = |code: &str| call.refusals.iter().any(|refusal| refusal.code == code);
        let envelope = judged(name, outcome, |code| self.codes.iter().any(|own| own == code) || is_told(code))?;
        if envelope["ok"] == true && !call.staged.is_empty() {
            call.files.apply(&call.staged)?;
        }
        Ok(envelope)
    }
}

/// Returns the one custom section `memcell:manifest`. `memcell audit` judges the rest of the file.
fn manifest_of(wasm: &[u8]) -> Option<(Vec<Tool>, Vec<String>, u64)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::CustomSection(section) = payload.ok()? else { continue };
        found.extend((section.name() == "memcell:manifest").then(|| section.data()));
    }
    let [text] = found[..] else { return None };
    let mut manifest: Value = serde_json::from_slice(text).ok().filter(|manifest: &Value| manifest["abi"] == 1)?;
    // A longer deadline would end the thread that keeps the engine's time.
    let deadline_ms = manifest["deadlineMs"].as_u64().filter(|ms| *ms <= u32::MAX.into())?;
    let errors = manifest["errors"].as_array().into_iter().flatten();
    let codes = errors.filter_map(|error| error["code"].as_str().map(String::from)).collect();
    Some((serde_json::from_value(manifest["tools"].take()).ok()?, codes, deadline_ms))
}

/// The engine. It links only the kernel and the five capabilities, and reads nothing from the environment.
fn compile(wasm: &[u8], deadline: Duration, fuel_polls: Option<u64>) -> Result<CompiledPlugin, Error> {
    let mut hosted = extism::Manifest::new([Wasm::data(wasm)]).with_timeout(deadline);
    hosted.config.extend(fuel_polls.map(|polls| ("memcell.fuelPolls".into(), polls.to_string())));
    // With the SDK's own limit, growing traps; with a limit for each memory, the module is told that there is no more. The SDK
    // creates two instances of the plugin and two of the kernel for a call.
    let mut pool = wasmtime::PoolingAllocationConfig::new();
    pool.max_memory_size(MEMORY_BYTES_MAX).total_memories(4).total_core_instances(4).total_tables(4);
    let mut config = wasmtime::Config::new();
    config.allocation_strategy(pool);
    let profiling_strategy = wasmtime::ProfilingStrategy::None;
    PluginBuilder::new(hosted)
        .with_wasi(false)
        .with_functions(CAPABILITIES.map(bind))
        .with_wasmtime_config(config)
        // A cache runs unchecked code, and dumps contain users' data. The environment could switch both on.
        .with_cache_disabled()
        .with_debug_options(DebugOptions { profiling_strategy, coredump: None, memdump: None, debug_info: false })
        .compile()
}

fn bind(capability: Capability) -> Function {
    Function::new(capability.0, [PTR], [PTR], UserData::new(()), move |plugin, inputs, outputs, _| {
        // A hostile guest can forge the length of a block.
        let block = plugin.memory_from_val(&inputs[0]).filter(|block| block.len() <= REQUEST_BYTES_MAX);
        let request: Vec<u8> = block.map_or(Ok(Vec::new()), |block| plugin.memory_get(block))?;
        let Some(mut call) = PRESENT.take() else { return Err(Error::msg("no call is under way")) };
        let reply = call.answer(capability, &request).unwrap_or_else(|refusal| {
            let envelope = refusal.envelope();
            call.refusals.push(refusal);
            envelope
        });
        PRESENT.set(Some(call));
        plugin.memory_set_val(&mut outputs[0], reply.to_string())
    })
    .with_namespace("extism:host/user")
}

type Place = (String, String);

/// What a call leaves at a place. They are applied in this order; a removal is of a file that was overwritten and then moved.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Moved from this path of the scope on disk.
    Moved(String),
    Gone,
    Written(String),
}

/// The state of the capabilities during one call. Changes are staged, so that a failed call changes nothing.
struct Call {
    tool: Tool,
    files: UserFiles,
    epoch_ms: u64,
    /// By scope and path.
    staged: BTreeMap<Place, Change>,
    requests: usize,
    /// The codes that the guest received.
    refusals: Vec<Refusal>,
}

impl Call {
    /// Checks the request against the ABI and the grant, before any file is touched.
    fn answer(&mut self, (name, right, keys): Capability, request: &[u8]) -> Answer {
        self.requests += 1;
        let refused = |why: String| deny(format!("Cannot call {name}: {why}"));
        let is_field = |(key, value): (&String, &Value)| keys.contains(&&**key) && value.is_string();
        let is_whole = |fields: &Map<_, _>| keys.iter().all(|key| *key == "prefix" || fields.contains_key(*key));
        let fields = match serde_json::from_slice(request) {
            _ if self.requests > REQUESTS_MAX => {
                refused(format!("this call has made {REQUESTS_MAX} requests, the maximum"))?
            }
            _ if !self.tool.rights.contains(right) => refused(format!("this call is not granted \"{right}\""))?,
            Err(_) => refused("the request is not JSON".into())?,
            Ok(Value::Object(fields)) if fields.iter().all(is_field) && is_whole(&fields) => fields,
            Ok(_) => refused("the request does not have the form of ABI version 1".into())?,
        };
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        let (scope, path) = (text("scope"), text("path"));
        if keys.contains(&"scope") && !self.tool.scopes.iter().any(|granted| granted == scope) {
            let granted: Vec<_> = self.tool.scopes.iter().map(|scope| quoted(scope)).collect();
            let (scope, granted) = (quoted(scope), granted.join(", "));
            return deny(format!("Cannot use scope {scope}: this call is granted {granted}"));
        }
        if keys.contains(&"path") {
            check_path(path)?;
        }
        if ["write", "trash"].contains(&right) && is_trash(path) {
            return deny(format!("Cannot change {}: tools cannot change files in trash/", quoted(path)));
        }
        match right {
            "read" => self.read(scope, path),
            "list" => self.list(scope, text("prefix")),
            "write" => self.write(scope, path, text("content")),
            "trash" => self.trash(scope, path),
            _ => Ok(json!({ "ok": true, "epochMs": self.epoch_ms })),
        }
    }

    fn read(&self, scope: &str, path: &str) -> Answer {
        match self.content(scope, path)?.map(String::from_utf8).transpose() {
            Ok(text) => Ok(json!({ "ok": true, "content": text })),
            Err(wrong) => {
                let message = format!("Cannot read {}: it is not UTF-8 text", quoted(path));
                Err(Refusal { code: "ENTRY_UNREADABLE", message, readable: Some(readable(wrong.as_bytes())) })
            }
        }
    }

    fn list(&self, scope: &str, prefix: &str) -> Answer {
        if !prefix.is_empty() && !is_path(prefix.strip_suffix('/').unwrap_or(prefix)) {
            return deny(format!("Cannot list {}: it is not the beginning of a path", quoted(prefix)));
        }
        let mut files = self.files.walk(scope)?;
        for (_, path) in self.staged.keys().filter(|(of, _)| of == scope) {
            files.remove(path);
            files.extend(self.content(scope, path)?.map(|bytes| (path.clone(), (bytes.len() as u64, 0))));
        }
        files.retain(|path, _| path.starts_with(prefix) && (is_trash(prefix) || !is_trash(path)));
        let entry = |(path, (bytes, us))| json!({ "path": path, "bytes": bytes, "changedUs": us });
        let entries: Vec<_> = files.into_iter().map(entry).collect();
        Ok(json!({ "ok": true, "entries": entries }))
    }

    fn write(&mut self, scope: &str, path: &str, content: &str) -> Answer {
        self.content(scope, path)?; // refuses a file that must not be replaced
        let (quoted, found) = (quoted(path), content.len());
        if found as u64 > FILE_BYTES_MAX {
            let message = format!("Cannot write {quoted}: it is {found} bytes, at most {FILE_BYTES_MAX} allowed");
            return refuse("QUOTA_EXCEEDED", message);
        }
        self.staged.insert((scope.into(), path.into()), Change::Written(content.into()));
        Ok(json!({ "ok": true }))
    }

    fn trash(&mut self, scope: &str, path: &str) -> Answer {
        if self.content(scope, path)?.is_none() {
            return deny(format!("Cannot trash {}: no such file", quoted(path)));
        }
        let name_at = path.rfind('/').map_or(0, |at| at + 1);
        let (base, ending) = path.split_at(path.rfind('.').filter(|at| *at > name_at).unwrap_or(path.len()));
        let stamp = utc_stamp(self.epoch_ms);
        let (mut trashed, mut number) = (format!("trash/{base}.{stamp}{ending}"), 1);
        while check_path(&trashed).and_then(|()| self.content(scope, &trashed))?.is_some() {
            number += 1;
            trashed = format!("trash/{base}.{stamp}-{number}{ending}");
        }
        let change = self.staged.insert((scope.into(), path.into()), Change::Gone);
        self.staged.insert((scope.into(), trashed.clone()), change.unwrap_or_else(|| Change::Moved(path.into())));
        Ok(json!({ "ok": true, "trashed": trashed }))
    }

    /// Returns a file as this call sees it.
    fn content(&self, scope: &str, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        match self.staged.get(&(scope.into(), path.into())) {
            Some(Change::Written(text)) => Ok(Some(text.clone().into())),
            Some(Change::Moved(origin)) => self.files.read(scope, origin),
            Some(Change::Gone) => Ok(None),
            None => self.files.read(scope, path),
        }
    }
}

/// One user's files during one call. They are reached only through open folders; no path is joined, no link followed.
struct UserFiles {
    data: Dir,
    folder_name: String,
    /// `None` if nothing was ever written for the user.
    user: Option<Dir>,
    /// Held from before the first read until the changes are applied.
    lock: Option<File>,
}

impl UserFiles {
    fn open(data: &Dir, user_id: &str, may_change: bool) -> io::Result<Self> {
        let folder_name = folder_name(user_id);
        let user = present(enter(data, ["users", &folder_name], false))?;
        let lock = user.as_ref().filter(|_| may_change).map(lock).transpose()?;
        Ok(Self { data: data.try_clone()?, folder_name, user, lock })
    }

    /// Returns a file's folder, and its name there.
    fn parent<'p>(&self, scope: &'p str, path: &'p str, make: bool) -> io::Result<(Dir, &'p str)> {
        let mut names: Vec<_> = std::iter::once(scope).chain(path.split('/')).collect();
        let name = names.pop().unwrap_or_default();
        Ok((enter(self.user.as_ref().ok_or(ErrorKind::NotFound)?, names, make)?, name))
    }

    fn read(&self, scope: &str, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some((folder, name)) = present(self.parent(scope, path, false))? else { return Ok(None) };
        let Some(metadata) = present(folder.symlink_metadata(name))? else { return Ok(None) };
        check_file(path, &metadata)?;
        // Something else can have taken its place: a link, or a pipe, whose opening would block until someone writes.
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let Some(file) = present(folder.open_with(name, &options))? else { return Ok(None) };
        check_file(path, &file.metadata()?)?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Returns the size of every file of a scope, and when it was last changed, in microseconds. Leaves out files that
    /// could not be read or that vanish meanwhile.
    fn walk(&self, scope: &str) -> io::Result<BTreeMap<String, (u64, i64)>> {
        let (mut found, mut ahead) = (BTreeMap::new(), vec![String::new()]);
        while let Some(prefix) = ahead.pop() {
            // Opened again from the top, because descriptors are few.
            let entries = self.parent(scope, &prefix, false).and_then(|(folder, _)| folder.entries());
            for entry in present(entries)?.into_iter().flatten() {
                let Some(entry) = present(entry)? else { continue };
                let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
                match present(entry.metadata())?.filter(|_| is_path(&path)) {
                    Some(metadata) if metadata.is_dir() => ahead.push(path + "/"),
                    Some(metadata) if check_file(&path, &metadata).is_ok() => {
                        // Not the time of the last write, which programs can set.
                        let changed_us = metadata.ctime() * 1_000_000 + metadata.ctime_nsec() / 1_000;
                        found.insert(path, (metadata.len(), changed_us));
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn apply(&mut self, staged: &BTreeMap<Place, Change>) -> io::Result<()> {
        let is_made = |(_, change): &(_, &Change)| !matches!(change, Change::Gone);
        let made: BTreeSet<_> = staged.iter().filter(is_made).map(|((scope, path), _)| (scope, &**path)).collect();
        let is_inside =
            |(scope, path): &(_, &str)| path.match_indices('/').any(|(at, _)| made.contains(&(*scope, &path[..at])));
        if made.iter().any(is_inside) {
            return Err(ErrorKind::NotADirectory.into()); // this call itself would put a file in a folder's place
        }
        if self.lock.is_none() {
            // The user had no folder when this call began.
            let user = enter(&self.data, ["users", &self.folder_name], true)?;
            self.lock = Some(lock(&user)?);
            if user.entries()?.count() > 1 {
                return Err(ErrorKind::WouldBlock.into()); // another host created it first
            }
            self.user = Some(user);
        }
        let mut ordered = Vec::from_iter(staged);
        ordered.sort_by_key(|(_, change)| *change);
        let (own, _) = self.parent(".memcell", "", false)?;
        let done = self.change(&ordered, &own);
        if done.is_err() {
            (0..ordered.len()).for_each(|number| _ = own.remove_file(format!("new{number}")));
        }
        done
    }

    fn change(&self, ordered: &[(&Place, &Change)], own: &Dir) -> io::Result<()> {
        // Write texts aside first: a full disk fails here, before anything has changed.
        for (number, (_, change)) in ordered.iter().enumerate() {
            let (Change::Written(text), new) = (change, format!("new{number}")) else { continue };
            present(own.remove_file(&new))?;
            let mut file = own.open_with(new, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
            file.write_all(text.as_bytes()).and_then(|()| file.sync_all())?;
        }
        let mut touched = BTreeMap::new();
        for (number, ((scope, path), change)) in ordered.iter().enumerate() {
            touched.insert((scope, path.rsplit_once('/').map(|(folder, _)| folder)), path);
            let is_made = **change != Change::Gone;
            let found = self.parent(scope, path, is_made);
            let Some((folder, name)) = (if is_made { found.map(Some) } else { present(found) })? else { continue };
            match change {
                Change::Gone => _ = present(folder.remove_file(name))?,
                Change::Written(_) => own.rename(format!("new{number}"), &folder, name)?,
                Change::Moved(origin) => {
                    let (source, origin) = self.parent(scope, origin, false)?;
                    source.rename(origin, &folder, name)?;
                }
            }
        }
        for ((scope, _), path) in touched {
            // A `Dir` itself cannot be flushed.
            let folder = present(self.parent(scope, path, false).and_then(|(folder, _)| folder.open(".")))?;
            folder.map_or(Ok(()), |folder| folder.sync_all())?;
        }
        Ok(())
    }
}

fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Opens a folder below another, one name at a time, because cap-std follows links that stay inside.
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

/// Locks the user's folder until the call ends. It is BUSY if another host holds the lock; the caller can retry.
fn lock(user: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600).nonblock(true).follow(FollowSymlinks::No);
    let file = enter(user, [".memcell"], true)?.open_with("lock", &options)?;
    // This lock belongs to the open file: closing another descriptor in this process does not release it. Linux only.
    let (l_type, l_whence) = (libc::F_WRLCK as i16, libc::SEEK_SET as i16);
    fcntl(&file, FcntlArg::F_OFD_SETLK(&libc::flock { l_type, l_whence, l_start: 0, l_len: 0, l_pid: 0 }))?;
    Ok(file)
}

/// Refuses a file with another hard link, which can be another user's, and a file that is too large; a sparse file can claim any
/// size. A file that another host has just replaced has no link left.
fn check_file(path: &str, metadata: &Metadata) -> Result<(), Refusal> {
    let (names, bytes) = (metadata.nlink(), metadata.len());
    let why = match () {
        _ if metadata.is_symlink() => "a link is in its place".into(),
        _ if !metadata.is_file() => "it is not a regular file".into(),
        _ if names > 1 => format!("it has {names} names on the disk, only 1 is allowed"),
        _ if bytes > FILE_BYTES_MAX => format!("it is {bytes} bytes, at most {FILE_BYTES_MAX} allowed"),
        _ => return Ok(()),
    };
    refuse("STORAGE_UNSAFE", format!("Cannot use {}: {why}", quoted(path)))
}

/// Unique for each user id, on every kind of disk, and never a path.
fn folder_name(user_id: &str) -> String {
    let stem = user_id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port = matches!(stem.as_bytes(), [b'c', b'o', b'm', b'0'..=b'9'] | [b'l', b'p', b't', b'0'..=b'9']);
    let is_device = is_port || ["con", "prn", "aux", "nul"].contains(&&*stem);
    let mut name = String::new();
    for (at, byte) in user_id.bytes().enumerate() {
        let is_odd = at == 0 && is_device || byte == b'.' && (at == 0 || at + 1 == user_id.len());
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
    let allowed = r#"allowed are relative paths inside the scope, without "." and "..""#;
    if is_path(path) { Ok(()) } else { deny(format!("Cannot use path {}: {allowed}", quoted(path))) }
}

/// Ignores case, because some disks do not distinguish TRASH from trash.
fn is_trash(path: &str) -> bool {
    path.split('/').next().is_some_and(|first| first.eq_ignore_ascii_case("trash"))
}

/// As in `20231114T221320000Z`.
fn utc_stamp(epoch_ms: u64) -> String {
    // Years are counted from March, so that the leap day is the last. A cycle of 400 years began 719,468 days before 1970.
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

fn check_user_id(user_id: Option<&str>) -> Result<&str, Refusal> {
    let missing = "Cannot call a tool: ctx.userId is missing, every call needs a user";
    let Some(text) = user_id else { return refuse("USER_REQUIRED", missing.into()) };
    let is_odd = |c: char| c.is_control() || c == '/' || c == '\\';
    let is_named = (1..=128).contains(&text.len()) && text != "." && text != "..";
    if is_named && !text.contains(is_odd) && text.trim().trim_matches('\u{feff}') == text {
        return Ok(text);
    }
    let allowed = r#"1 to 128 bytes without control characters, "/", "\", leading or trailing space, and other than "." and "..""#;
    refuse("USER_INVALID", format!("Cannot call a tool: ctx.userId is {}, allowed: {allowed}", quoted(text)))
}

/// Escapes an untrusted text, so that it cannot end the quotation or hide or reorder the text around it.
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

/// Judges the guest's answer. An error is the text that the guest gave to error_set; after a trap, the engine's message.
fn judged(name: &str, outcome: Result<Vec<u8>, Error>, may_know: impl Fn(&str) -> bool) -> Answer {
    let keys = |value: &Value| value.as_object().map_or(0, Map::len);
    let unusable = |why: &str| refuse("OUTPUT_INVALID", format!("Cannot use the answer of {name}: {why}"));
    let text = match outcome {
        Err(error) => error.to_string(),
        Ok(output) if output.len() > JSON_BYTES_MAX => {
            let found = format!("its answer is {} bytes, at most {JSON_BYTES_MAX} allowed", output.len());
            return refuse("OUTPUT_TOO_LARGE", format!("Cannot finish {name}: {found}"));
        }
        Ok(output) => {
            let envelope: Value = serde_json::from_slice(&output).unwrap_or_default();
            let is_whole = envelope.get("data").is_some() && keys(&envelope) == 3;
            let is_success = is_whole && envelope["ok"] == true && envelope["message"].is_string();
            return if is_success { Ok(envelope) } else { unusable("its output is not a success envelope") };
        }
    };
    let crashed = format!("Cannot finish {name}: the plugin's code crashed");
    let Ok(envelope) = serde_json::from_str::<Value>(&text) else { return refuse("GUEST_TRAPPED", crashed) };
    let error = &envelope["error"];
    let is_whole = keys(&envelope) == 2 && keys(error) == 2 + usize::from(error.get("issues").is_some());
    let is_code = |code: &&str| (1..=64).contains(&code.len()) && code.chars().all(|c| matches!(c, 'A'..='Z' | '_'));
    match error["code"].as_str().filter(is_code) {
        Some(code) if is_whole && envelope["ok"] == false && error["message"].is_string() => {
            let is_known = GUEST_CODES.contains(&code) || may_know(code);
            if is_known { Ok(envelope) } else { unusable(&format!("it reports {code}, a code that it neither declares nor received")) }
        }
        _ => unusable("its error is not a failed envelope"),
    }
}
