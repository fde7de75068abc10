/** With the detector, a credential in any field of any family waits for the owner, and other texts do not. */
import { createHash } from "node:crypto";

import { createRuntime, CredentialDetector, memoryStore } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { newEvent, RunHistory, userMessageData } from "memcell/run-history";
import type { Event } from "memcell/run-history";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Put together here: whoever scans this repository for credentials finds none. */
const madeUp = createHash("sha512").update("made up").digest("base64").replaceAll(/\W/g, "");
const token = `glpat-${madeUp.slice(0, 20)}`;
const dashes = "-".repeat(5);
const armoured = (body: string): string =>
  [`${dashes}BEGIN PRIVATE KEY${dashes}`, body, `${dashes}END PRIVATE KEY${dashes}`].join("\n");
const key = armoured(madeUp.slice(0, 64));
const ctx = { userId: "alice" };

const detector = new CredentialDetector();
let runtime: Runtime;
beforeAll(async () => {
  const plugins = ["user-memory", "journal", "stores", "run-history"];
  runtime = await createRuntime({ store: memoryStore(), plugins, onWrite: detector.onWrite, threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  await detector.close();
});

const entry = { action: "upsert", name: "tea", type: "user", description: "Likes tea", body: "Green" };
const block = { key: "tea", content: "Likes tea" };
const note = { command: "create", path: "/memories/tea.md", content: "Likes tea" };

test.for<readonly [what: string, tool: string, input: object]>([
  ["the body of an entry", "UpdateUserMemory", { ...entry, body: `Her key:\n${key}` }],
  ["its description", "UpdateUserMemory", { ...entry, description: `Push with ${token}` }],
  ["its name", "UpdateUserMemory", { ...entry, name: token }],
  ["the content of a block", "memory_write", { ...block, content: key }],
  ["its key", "memory_write", { ...block, key: token }],
  ["its tags", "memory_write", { ...block, tags: ["ops", token] }],
  ["a text in a store", "memory", { ...note, content: key }],
  ["a value in a store", "memory", { ...note, content: { deploy: { keys: ["none", `first line\n${token}`] } } }],
  ["the name of a value", "memory", { ...note, content: { [token]: true } }],
  ["its path", "memory", { ...note, path: `/memories/${token}` }],
])("%s", async ([, tool, input]) => {
  const result: ToolResult = await runtime.call(tool, input, ctx);
  expect(result).toMatchObject({ ok: false, error: { code: "WRITE_PENDING" } });
});

const said = (message: string): Event => newEvent(undefined, userMessageData({ message }));

test("an event of a run", async () => {
  const history = new RunHistory(runtime, ctx);
  await history.append("planner", "run-1", [said("Hello")]);
  for (const text of [`The key:\n${key}`, `Push with\n${token}`]) {
    await expect(history.append("planner", "run-1", [said(text)])).rejects.toMatchObject({ code: "WRITE_PENDING" });
  }
});

test("nothing that holds none waits", async () => {
  for (const [tool, input] of [
    ["UpdateUserMemory", entry],
    ["memory_write", block],
    ["memory", note],
  ] as const) {
    expect(await runtime.call(tool, input, ctx)).toMatchObject({ ok: true });
  }
  // What goes to the trash is not looked at.
  const write = { ...ctx, tool: "T", plugin: "p", origin: null, trust: "unstated" } as const;
  const files = [{ scope: "memory", path: `${token}.md`, text: null }];
  expect(await detector.onWrite({ ...write, files } as never)).toBe("ok");
});
