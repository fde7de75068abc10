/** Tools that are not offered, and arguments that name another user. */
import { callTool, inSession, modern, withHeaders } from "./asking.ts";
import { asAlice, refusedBySdk, row, served, toolError, unfit, unknownMethod, unknownTool } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";

/** Names that no record repeats. */
const noNames = [
  ["../ReadUserMemory", "$user/ReadUserMemory", "ReadUserMemory?user=$user", "ReadUserMemory\0$user", ""],
  [" ReadUserMemory", "Re\u0430dUserMemory", "ReadUser\u00admemory", "__proto__", "R".repeat(100_000)],
].flat();
/** The last five are for the host alone. */
const unknownNames = [
  ["readusermemory", "constructor", "toString", "store_read"],
  ["PromptIndex", "InspectMemory", "RestoreEntry", "ListEntries", "AddEntry"],
].flat();

const called = (name: unknown, expected: Expected): Attack =>
  row(
    `a tool called ${JSON.stringify(name).slice(0, 40)}`,
    expected,
    inSession("tools/call", { name, arguments: { name: "plan" } }),
  );

const invalid = toolError("INPUT_INVALID");
const reading = (title: string, input: unknown, expected = invalid): Attack =>
  row(title, expected, callTool("ReadUserMemory", input));

const keys = ["userId", "ctx", "scope", "path", "dataDir", "constructor", "prototype", "_meta"];
const entryNames: Readonly<Record<string, unknown>> = {
  "that is a path": "../../$user/memory/$entry",
  "with NUL": "plan\0$entry",
  "in a list": ["$entry"],
  "with another inside": { name: "plan", userId: "$user" },
};

const invalidUpdate = toolError("INPUT_INVALID", "UpdateUserMemory");
const upsert = { action: "upsert", type: "user", description: "x", body: "x" };

const smuggled: Attack[] = [
  ...keys.map((key) => reading(`${key} beside the name`, { name: "plan", [key]: { userId: "$user" } })),
  ...Object.entries(entryNames).map(([title, name]) => reading(`a name ${title}`, { name })),
  reading("the victim's entry", { name: "$entry" }, toolError("ENTRY_NOT_FOUND")),
  reading("the index as an entry", { name: "MEMORY" }, toolError("NAME_RESERVED")),
  row(
    "a write to a path of the victim's",
    invalidUpdate,
    callTool("UpdateUserMemory", { ...upsert, name: "../../$user/memory/$entry" }),
  ),
  row(
    "a deletion of the victim's entry",
    toolError("ENTRY_NOT_FOUND", "UpdateUserMemory"),
    callTool("UpdateUserMemory", { action: "delete", name: "$entry" }),
  ),
  reading("arguments that are a list", [{ name: "plan", userId: "$user" }], unfit),
];

const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };
const inPlan = (title: string, expected: Expected, more: object): Attack =>
  row(title, expected, inSession("tools/call", { ...plan, ...more }));
const names = { userId: "$user", sub: "$user", user: { id: "$user" }, "memcell/userId": "$user" };
const client = { "io.modelcontextprotocol/clientInfo": { name: "$user", version: "1", userId: "$user" } };

const besides: Attack[] = [
  row("the victim in _meta", asAlice, modern("tools/call", plan, { ...names, "io.modelcontextprotocol/userId": "x" })),
  row("a client that calls itself the victim", asAlice, modern("tools/call", plan, client)),
  inPlan("a progress token that is an object", refusedBySdk(400), { _meta: { progressToken: { userId: "$user" } } }),
  inPlan("the victim next to the arguments", asAlice, { userId: "$user", ctx: { userId: "$user" }, user: "$user" }),
  ...[
    ["Mcp-Name", "UpdateUserMemory"] as const,
    ["Mcp-Method", "resources/list"] as const,
    ["Mcp-Protocol-Version", "2099-01-01"] as const,
  ].map((header) =>
    row(`another ${header[0]} than in the body`, refusedBySdk(400), withHeaders(modern("tools/call", plan), header)),
  ),
];

const indexed = ["JournalIndex", "MemoryKeys", "PromptIndex"].map((tool) => `call ${tool} alice done`);
const completed = (values: string): Expected => served(200, ["call ListEntries alice done"], `"values":[${values}]`);
const template = { type: "ref/resource", uri: "memory://user-memory/entry/{name}" };
const completion = (title: string, expected: Expected, params: object): Attack =>
  row(title, expected, inSession("completion/complete", { ref: template, ...params }));
const byName = { name: "name", value: "" };

const methods = ["users/list", "tasks/get", "sampling/createMessage", "__proto__", "constructor"];

export const toolAttacks: readonly Attack[] = [
  ...noNames.map((name) => called(name, unknownTool("(none)"))),
  ...unknownNames.map((name) => called(name, unknownTool(name))),
  called(1, unfit),
  called(["ReadUserMemory"], unfit),
  ...smuggled,
  ...besides,
  completion("a completion of the victim's entries", completed(""), { argument: { name: "name", value: "$user" } }),
  completion("a completion with the victim as context", completed('"plan"'), {
    argument: byName,
    context: { arguments: { userId: "$user", user: "$user" } },
  }),
  completion("a completion of another template", unfit, {
    ref: { ...template, uri: "memory://$user/{name}" },
    argument: byName,
  }),
  row(
    "a prompt that names the victim",
    served(200, indexed, "where Alice goes"),
    inSession("prompts/get", { name: "memory", arguments: { userId: "$user", user: "$user" }, userId: "$user" }),
  ),
  row("a prompt of the victim's", unfit, inSession("prompts/get", { name: "memory/$user" })),
  ...methods.map((method) =>
    row(`the method ${method}`, unknownMethod, inSession(method, { userId: "$user", taskId: "$session" })),
  ),
];
