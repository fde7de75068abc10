/** Tools that are not offered, and arguments that name another user. */
import { callTool, inSession, modern, withHeaders } from "./asking.ts";
import { asAlice, refused, row, served, toolError, unfit, unknownMethod, unknownTool } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Stage, Victim } from "./stage.ts";

type Make<Value> = (victim: Victim, stage: Stage) => Value;

const named = (title: string, expected: Expected, make: Make<unknown>): Attack =>
  row(`a tool called ${title}`, expected, (victim, stage) =>
    inSession(stage.alice.session, "tools/call", { name: make(victim, stage), arguments: { name: "plan" } }),
  );

const unknown = unknownTool("(none)");

const names: Attack[] = [
  named("../ReadUserMemory", unknown, () => "../ReadUserMemory"),
  named("by the victim and a slash", unknown, ({ userId }) => `${userId}/ReadUserMemory`),
  named("by the victim and @", unknown, ({ userId }) => `ReadUserMemory@${userId}`),
  named("with a query", unknown, ({ userId }) => `ReadUserMemory?user=${userId}`),
  named("with NUL", unknown, ({ userId }) => `ReadUserMemory\0${userId}`),
  named("with a line feed", unknown, () => "ReadUserMemory\n"),
  named("with a space", unknown, () => " ReadUserMemory"),
  named("in lower case", unknownTool("readusermemory"), () => "readusermemory"),
  named("by its export", unknownTool("read_user_memory"), () => "read_user_memory"),
  named("with a Cyrillic letter", unknown, () => "Re\u0430dUserMemory"),
  named("with a soft hyphen", unknown, () => "ReadUser\u00adMemory"),
  named("in full-width letters", unknown, () => "\uff32eadUserMemory"),
  named("nothing", unknown, () => ""),
  named("__proto__", unknown, () => "__proto__"),
  named("constructor", unknownTool("constructor"), () => "constructor"),
  named("toString", unknownTool("toString"), () => "toString"),
  named("hasOwnProperty", unknownTool("hasOwnProperty"), () => "hasOwnProperty"),
  named("store_read", unknownTool("store_read"), () => "store_read"),
  named("runtime.call", unknown, () => "runtime.call"),
  named("with 100,000 letters", unknown, () => "R".repeat(100_000)),
  ...["PromptIndex", "InspectMemory", "RestoreEntry", "ListEntries"].map((name) =>
    named(`${name}, which is the host's`, unknownTool(name), () => name),
  ),
  named("1", unfit, () => 1),
  named("by a list", unfit, () => ["ReadUserMemory"]),
];

const reading = (title: string, expected: Expected, make: Make<unknown>): Attack =>
  row(title, expected, (victim, stage) => callTool("ReadUserMemory", make(victim, stage)));

const invalid = toolError("INPUT_INVALID");

const smuggled: Attack[] = [
  ...["userId", "user", "user_id", "ctx", "scope", "path", "owner", "sub", "dataDir", "constructor", "prototype"].map(
    (key) => reading(`${key} beside the name`, invalid, ({ userId }) => ({ name: "plan", [key]: userId })),
  ),
  reading("ctx with a user", invalid, ({ userId }) => ({ name: "plan", ctx: { userId } })),
  reading("constructor with a prototype", invalid, ({ userId }) => ({
    name: "plan",
    constructor: { prototype: { userId } },
  })),
  reading("_meta in the arguments", invalid, ({ userId }) => ({ name: "plan", _meta: { userId } })),
  reading("the victim's entry", toolError("ENTRY_NOT_FOUND"), ({ entry }) => ({ name: entry })),
  reading("a name that is a path", invalid, ({ userId, entry }) => ({ name: `../../${userId}/memory/${entry}` })),
  reading("a name that is an absolute path", invalid, ({ userId }) => ({
    name: `/data/users/${userId}/memory/MEMORY`,
  })),
  reading("a name with backslashes", invalid, ({ userId, entry }) => ({ name: `..\\..\\${userId}\\memory\\${entry}` })),
  reading("a name with a file's extension", invalid, ({ entry }) => ({ name: `${entry}.md` })),
  reading("a name with NUL", invalid, ({ entry }) => ({ name: `plan\0${entry}` })),
  reading("a name with half a surrogate pair", invalid, () => ({ name: "plan\ud800" })),
  reading("a name in escapes", invalid, ({ userId, entry }) => ({ name: `..%2f..%2f${userId}%2f${entry}` })),
  reading("a name in a list", invalid, ({ entry }) => ({ name: [entry] })),
  reading("a name with another inside", invalid, ({ userId }) => ({ name: { name: "plan", userId } })),
  reading("the index as an entry", toolError("NAME_RESERVED"), () => ({ name: "MEMORY" })),
  row("a write that names the victim", toolError("INPUT_INVALID", "UpdateUserMemory"), ({ userId }) =>
    callTool("UpdateUserMemory", { action: "upsert", name: "plan", type: "user", description: "x", body: "x", userId }),
  ),
  row("a write to a path of the victim's", toolError("INPUT_INVALID", "UpdateUserMemory"), ({ userId, entry }) =>
    callTool("UpdateUserMemory", {
      action: "upsert",
      name: `../../${userId}/memory/${entry}`,
      type: "user",
      description: "x",
      body: "x",
    }),
  ),
  row("a deletion of the victim's entry", toolError("ENTRY_NOT_FOUND", "UpdateUserMemory"), ({ entry }) =>
    callTool("UpdateUserMemory", { action: "delete", name: entry }),
  ),
  row("arguments that are a list", unfit, ({ userId }) => callTool("ReadUserMemory", [{ name: "plan", userId }])),
  row("arguments that are a text", unfit, ({ userId }) =>
    callTool("ReadUserMemory", `{"name":"plan","userId":"${userId}"}`),
  ),
];

const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };

const besides: Attack[] = [
  row("the victim in _meta", asAlice, ({ userId }) =>
    modern("tools/call", plan, {
      userId,
      sub: userId,
      user: { id: userId },
      "memcell/userId": userId,
      "io.modelcontextprotocol/userId": userId,
    }),
  ),
  row("the victim in _meta, in a session", asAlice, ({ userId }, { alice }) =>
    inSession(alice.session, "tools/call", { ...plan, _meta: { userId, sub: userId, labels: { userId } } }),
  ),
  row("a client that calls itself the victim", asAlice, ({ userId }) =>
    modern("tools/call", plan, { "io.modelcontextprotocol/clientInfo": { name: userId, version: "1", userId } }),
  ),
  row("the victim's session as progress token", asAlice, ({ session }, { alice }) =>
    inSession(alice.session, "tools/call", { ...plan, _meta: { progressToken: session } }),
  ),
  row("a progress token that is an object", refused(400, "mcp-400"), ({ userId }, { alice }) =>
    inSession(alice.session, "tools/call", { ...plan, _meta: { progressToken: { userId } } }),
  ),
  row("a task of the victim's", asAlice, ({ session }, { alice }) =>
    inSession(alice.session, "tools/call", {
      ...plan,
      _meta: { "io.modelcontextprotocol/related-task": { taskId: session } },
    }),
  ),
  row("the victim next to the arguments", asAlice, ({ userId }, { alice }) =>
    inSession(alice.session, "tools/call", { ...plan, userId, ctx: { userId }, user: userId }),
  ),
  row("another tool in the header", refused(400, "mcp-400"), () =>
    withHeaders(callTool("ReadUserMemory", { name: "plan" }), ["Mcp-Name", "UpdateUserMemory"]),
  ),
  row("another method in the header", refused(400, "mcp-400"), () =>
    withHeaders(callTool("ReadUserMemory", { name: "plan" }), ["Mcp-Method", "resources/list"]),
  ),
  row("another revision in the header", refused(400, "mcp-400"), () =>
    withHeaders(callTool("ReadUserMemory", { name: "plan" }), ["Mcp-Protocol-Version", "2099-01-01"]),
  ),
];

const indexed = ["JournalIndex", "MemoryKeys", "PromptIndex"].map((tool) => `call ${tool} alice done`);

const others: Attack[] = [
  row(
    "a completion of the victim's entries",
    served(200, ["call ListEntries alice done"], '"values":[]'),
    ({ userId }, { alice }) => completion(alice.session, { name: "name", value: userId }),
  ),
  row(
    "a completion with the victim as context",
    served(200, ["call ListEntries alice done"], '"values":["plan"]'),
    ({ userId }, { alice }) =>
      completion(alice.session, { name: "name", value: "" }, { arguments: { userId, user: userId } }),
  ),
  row("a completion of users", unfit, (_victim, { alice }) => completion(alice.session, { name: "userId", value: "" })),
  row("a completion of another template", unfit, ({ userId }, { alice }) =>
    inSession(alice.session, "completion/complete", {
      ref: { type: "ref/resource", uri: `memory://${userId}/{name}` },
      argument: { name: "name", value: "" },
    }),
  ),
  row("a prompt that names the victim", served(200, indexed, "where Alice goes"), ({ userId }, { alice }) =>
    inSession(alice.session, "prompts/get", { name: "memory", arguments: { userId, user: userId }, userId }),
  ),
  row("a prompt of the victim's", unfit, ({ userId }, { alice }) =>
    inSession(alice.session, "prompts/get", { name: `memory/${userId}` }),
  ),
  ...[
    "users/list",
    "sessions/list",
    "tasks/list",
    "tasks/get",
    "memory/read",
    "sampling/createMessage",
    "__proto__",
    "constructor",
  ].map((method) =>
    row(`the method ${method}`, unknownMethod, ({ userId, session }, { alice }) =>
      inSession(alice.session, method, { userId, taskId: session }),
    ),
  ),
];

function completion(session: string, argument: object, context?: object) {
  return inSession(session, "completion/complete", {
    ref: { type: "ref/resource", uri: "memory://user-memory/entry/{name}" },
    argument,
    context,
  });
}

export const toolAttacks: readonly Attack[] = [...names, ...smuggled, ...besides, ...others];
