/**
 * Inputs that do not compile, and results that do not have what the program expects. `AddBook` is declared in
 * `executor.ts`.
 */
import type { CallContext, Runtime, ToolOutput } from "memcell";

declare const runtime: Runtime;
declare const ctx: CallContext;
declare const unknownInput: unknown;
declare const anyName: string;

// @ts-expect-error Every entry has a name.
await runtime.call("ReadUserMemory", {}, ctx);
// @ts-expect-error A misspelt field.
await runtime.call("ReadUserMemory", { nam: "a" }, ctx);
// @ts-expect-error No field names a user.
await runtime.call("ReadUserMemory", { name: "a", userId: "bob" }, ctx);
// @ts-expect-error What could be anything is not checked by the compiler.
await runtime.call("ReadUserMemory", unknownInput, ctx);
// @ts-expect-error Upsert needs a body.
await runtime.call("UpdateUserMemory", { action: "upsert", name: "a", type: "user", description: "d" }, ctx);
// @ts-expect-error There is no such type of entry.
await runtime.call("UpdateUserMemory", { action: "upsert", name: "a", type: "fact", description: "", body: "" }, ctx);
// @ts-expect-error A tag is a text.
await runtime.call("memory_write", { key: "k", content: "", tags: [1] }, ctx);
// @ts-expect-error There is no such type of event.
await runtime.call("ReadRunHistory", { agentId: "a", runId: "r", types: ["error"] }, ctx);
// @ts-expect-error Create needs content.
await runtime.call("memory", { command: "create", path: "/memories/a" }, ctx);
// @ts-expect-error A tool of the program's own is checked, too.
await runtime.call("AddBook", { titel: "Momo" }, ctx);
// @ts-expect-error A tool for programs is checked, too.
await runtime.callAsHost("user-memory/InspectMemory", { mend: "yes" }, ctx);
// @ts-expect-error A call needs a user.
await runtime.call("ReadUserMemory", { name: "a" }, {});
// @ts-expect-error There is no such class of origin.
await runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice", origin: { class: "web" } });
// @ts-expect-error A misspelt field of an origin.
await runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice", origin: { class: "unstated", sorce: "x" } });
// @ts-expect-error Exposure is a list.
await runtime.call("ReadUserMemory", { name: "a" }, { userId: "alice", exposedTo: "tool_external" });
// @ts-expect-error And it needs one even for a tool that is not known.
await runtime.call(anyName, {});

const read = await runtime.call("ReadUserMemory", { name: "a" }, ctx);
// @ts-expect-error It can have failed.
export const unchecked: string = read.data.body;
// @ts-expect-error An entry has no such field.
export const missing: string = read.ok ? read.data.text : "";
// @ts-expect-error Of unknown tools, nothing is known.
export const dynamic: string = await runtime.call(anyName, {}, ctx).then((each) => (each.ok ? each.data.body : ""));

// @ts-expect-error The time can be unknown.
export const created = (output: ToolOutput<"ReadUserMemory">): string => output.created;
