/** A hostile plugin against the capability boundary: what it asks for beyond its grant ends the call without effect. */
import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";

const folder = temporaryFolder();
const before = {
  alice: { "memory/a.md": "of alice", "memory/trash/old.md": "trashed" },
  bob: { "memory/a.md": "of bob" },
};
let runtime: Runtime;

beforeAll(async () => {
  writeUserFiles(folder.path, before);
  runtime = await createRuntime({ dataDir: folder.path, plugins: [testPlugin("puppet")], threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const ask = (of: string, request: unknown): { of: string; request: string } => ({
  of,
  request: JSON.stringify(request),
});
const memory = (path: string, content?: string): object => ({
  scope: "memory",
  path,
  ...(content !== undefined && { content }),
});

function expectUntouched(): void {
  expect(userFolderNames(folder.path)).toEqual(["alice", "bob"]);
  expect(readUserFiles(folder.path, "alice")).toEqual(before.alice);
  expect(readUserFiles(folder.path, "bob")).toEqual(before.bob);
}

function expectDenied(result: ToolResult): void {
  expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
  expect(JSON.stringify(result)).not.toContain("of bob");
  expect(JSON.stringify(result)).not.toContain(folder.path);
}

const outside = [
  "../../bob/memory/a.md",
  "../a.md",
  "..",
  ".",
  "",
  "/",
  "/etc/passwd",
  "a.md/",
  "a.md/.",
  "a.md/..",
  "./a.md",
  "x/../a.md",
  "x//a.md",
  ".memcell/owner",
  "../.memcell/owner",
  ".hidden",
  "a\\b",
  "..\\a.md",
  "C:\\a.md",
  "a.md\u0000",
  "a\u0000/../b",
  "%2e%2e/a.md",
  "%2e%2e%2fa.md",
  "a b.md",
  "é.md",
  "．．/a.md",
  "a\nb.md",
  "a.md ",
  `${"d/".repeat(200)}a.md`,
  "a".repeat(300),
];

for (const capability of ["store_read", "store_write", "store_trash"]) {
  test.for(outside.map((path) => ({ path })))(`${capability} refuses the path $path`, async ({ path }) => {
    const request = memory(path, capability === "store_write" ? "taken over" : undefined);
    expectDenied(await runtime.call("Puppet", [ask(capability, request)], { userId: "alice" }));
    expectUntouched();
  });
}

test.for(["../", "..", "/", "../../bob/", ".memcell", "x//", "a\u0000", " "].map((prefix) => ({ prefix })))(
  "store_list refuses the prefix $prefix",
  async ({ prefix }) => {
    expectDenied(await runtime.call("Puppet", [ask("store_list", { scope: "memory", prefix })], { userId: "alice" }));
  },
);

test.for(
  ["../bob/memory", "bob", ".memcell", "", "journal", "MEMORY", "memory/", "__proto__"].map((scope) => ({ scope })),
)("no capability opens the scope $scope", async ({ scope }) => {
  for (const [of, rest] of [
    ["store_read", { path: "a.md" }],
    ["store_list", {}],
    ["store_write", { path: "a.md", content: "x" }],
    ["store_trash", { path: "a.md" }],
  ] as const) {
    expectDenied(await runtime.call("Puppet", [ask(of, { scope, ...rest })], { userId: "alice" }));
  }
  expectUntouched();
});

test.for([
  { name: "write", step: ask("store_write", memory("b.md", "x")) },
  { name: "trash", step: ask("store_trash", memory("a.md")) },
  { name: "list", step: ask("store_list", { scope: "memory" }) },
  { name: "clock", step: ask("clock_now", {}) },
])("a tool without the right to $name cannot, though its plugin imports the capability", async ({ step }) => {
  expectDenied(await runtime.call("ReadingPuppet", [step], { userId: "alice" }));
  expectUntouched();
});

test("a denial drops what was written before it, and the success reported after it", async () => {
  const steps = [
    ask("store_write", memory("b.md", "x")),
    ask("store_read", memory("../x")),
    ask("store_write", memory("c.md", "x")),
  ];
  expectDenied(await runtime.call("Puppet", steps, { userId: "alice" }));
  expectUntouched();
});

test("a failure drops what was written before it", async () => {
  const failure = JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  const steps = [ask("store_write", memory("b.md", "x")), ask("store_trash", memory("a.md")), { fail: failure }];
  const result = await runtime.call("Puppet", steps, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "no" } });
  expectUntouched();
});

test.for([
  { name: "no JSON", step: { of: "store_read", request: "{" } },
  { name: "nothing", step: { of: "store_read", request: "" } },
  { name: "an array", step: ask("store_read", []) },
  { name: "a missing field", step: ask("store_read", { scope: "memory" }) },
  { name: "an unknown field", step: ask("store_read", { ...memory("a.md"), userId: "bob" }) },
  { name: "a path that is no text", step: ask("store_read", { scope: "memory", path: ["a.md"] }) },
  { name: "a lone surrogate", step: ask("store_write", memory("b.md", "\ud800")) },
  { name: "handle 0", step: { of: "store_read", handle: 0 } },
  { name: "a handle that is no block", step: { of: "store_read", handle: 2 ** 50 } },
  { name: "a negative handle", step: { of: "store_read", handle: -1 } },
])("a capability refuses $name as request", async ({ step }) => {
  expectDenied(await runtime.call("Puppet", [step], { userId: "alice" }));
  expectUntouched();
});

test("the trash can be read and listed, and not written", async () => {
  const list = await runtime.call("Puppet", [ask("store_list", { scope: "memory", prefix: "trash/" })], {
    userId: "alice",
  });
  expect(list).toMatchObject({ ok: true, data: ['{"ok":true,"entries":[{"path":"trash/old.md","bytes":7}]}'] });
  const read = await runtime.call("Puppet", [ask("store_read", memory("trash/old.md"))], { userId: "alice" });
  expect(read).toMatchObject({ ok: true, data: ['{"ok":true,"content":"trashed"}'] });
  expectDenied(await runtime.call("Puppet", [ask("store_write", memory("trash/old.md", "x"))], { userId: "alice" }));
  expectDenied(await runtime.call("Puppet", [ask("store_write", memory("trash", "x"))], { userId: "alice" }));
  expectDenied(await runtime.call("Puppet", [ask("store_trash", memory("trash/old.md"))], { userId: "alice" }));
  expectUntouched();
});

test("a listing leaves the trash out unless it is asked for", async () => {
  const result = await runtime.call("Puppet", [ask("store_list", { scope: "memory" })], { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: ['{"ok":true,"entries":[{"path":"a.md","bytes":8}]}'] });
});

test("a call sees what it has staged, and the disk does not until it succeeds", async () => {
  const steps = [
    ask("store_write", memory("new.md", "été")),
    ask("store_read", memory("new.md")),
    ask("store_trash", memory("a.md")),
    ask("store_read", memory("a.md")),
    ask("store_read", memory("trash/a.20231114T221320000Z.md")),
    ask("store_list", { scope: "memory" }),
    ask("store_list", { scope: "memory", prefix: "trash/a" }),
    { fail: JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "stop" } }) },
  ];
  const seen = await runtime.call("Puppet", [...steps.slice(0, -1), { output: "not an envelope" }], {
    userId: "alice",
  });
  expect(seen).toMatchObject({ ok: false, error: { code: "OUTPUT_INVALID" } });
  expectUntouched();

  const copy = temporaryFolder();
  writeUserFiles(copy.path, before);
  await using own = await createRuntime({
    dataDir: copy.path,
    plugins: [testPlugin("puppet")],
    threadsMax: 1,
    clock: () => 1_700_000_000_000,
  });
  const trashed = "trash/a.20231114T221320000Z.md";
  expect(await own.call("Puppet", steps.slice(0, -1), { userId: "alice" })).toMatchObject({
    ok: true,
    data: [
      '{"ok":true}',
      '{"ok":true,"content":"été"}',
      JSON.stringify({ ok: true, trashed }),
      '{"ok":true,"content":null}',
      '{"ok":true,"content":"of alice"}',
      '{"ok":true,"entries":[{"path":"new.md","bytes":5}]}',
      JSON.stringify({ ok: true, entries: [{ path: trashed, bytes: 8 }] }),
    ],
  });
  expect(readUserFiles(copy.path, "alice")).toEqual({
    "memory/new.md": "été",
    [`memory/${trashed}`]: "of alice",
    "memory/trash/old.md": "trashed",
  });
  copy[Symbol.dispose]();
});

test("rewriting a file many times leaves one change, and files together stay within the quota", async () => {
  using copy = temporaryFolder();
  await using own = await createRuntime({ dataDir: copy.path, plugins: [testPlugin("puppet")], threadsMax: 1 });
  const mebibytes = (paths: string[]): object[] => paths.map((path) => ({ writeLarge: { path, characters: 2 ** 20 } }));
  const rewritten = await own.call("Puppet", mebibytes(Array.from({ length: 20 }, () => "same.md")), {
    userId: "alice",
  });
  expect(rewritten).toMatchObject({ ok: true });
  expect(Object.keys(readUserFiles(copy.path, "alice"))).toEqual(["memory/same.md"]);
  for (const part of ["a", "b", "c"]) {
    const paths = Array.from({ length: 20 }, (_, at) => `${part}${at}.md`);
    expect(await own.call("Puppet", mebibytes(paths), { userId: "alice" })).toMatchObject({ ok: true });
  }
  const last = await own.call("Puppet", mebibytes(["x1.md", "x2.md", "x3.md", "x4.md"]), { userId: "alice" });
  const replies = last.ok ? (last.data as string[]) : [];
  expect(replies.map((reply) => reply.includes("QUOTA_EXCEEDED"))).toEqual([false, false, false, true]);
});

test("no file can be another one's folder", async () => {
  for (const paths of [
    ["x", "x/y"],
    ["x/y", "x"],
  ]) {
    const steps = paths.map((path) => ask("store_write", memory(path, "1")));
    expectDenied(await runtime.call("Puppet", steps, { userId: "alice" }));
  }
  const through = await runtime.call("Puppet", [ask("store_write", memory("a.md/y", "1"))], { userId: "alice" });
  expect(through).toMatchObject({ ok: true, data: [expect.stringContaining("STORAGE_UNSAFE")] });
  expectUntouched();
});

test("a file whose name begins like the trash is listed, staged and stored", async () => {
  using copy = temporaryFolder();
  await using own = await createRuntime({ dataDir: copy.path, plugins: [testPlugin("puppet")], threadsMax: 1 });
  const list = ask("store_list", { scope: "memory", prefix: "trash" });
  const shown = '{"ok":true,"entries":[{"path":"trash.md","bytes":1},{"path":"trashcan/x.md","bytes":2}]}';
  const writes = [ask("store_write", memory("trash.md", "1")), ask("store_write", memory("trashcan/x.md", "22"))];
  const staged = await own.call("Puppet", [...writes, list], { userId: "alice" });
  expect(staged).toMatchObject({ ok: true, data: ['{"ok":true}', '{"ok":true}', shown] });
  expect(await own.call("Puppet", [list], { userId: "alice" })).toMatchObject({ ok: true, data: [shown] });
});

test("a file over the limit is QUOTA_EXCEEDED and leaves nothing", async () => {
  const steps = [{ writeLarge: { path: "big.md", characters: 2 * 1024 * 1024 + 1 } }];
  const result = await runtime.call("Puppet", steps, { userId: "alice" });
  expect(result).toMatchObject({ ok: true, data: [expect.stringContaining("QUOTA_EXCEEDED")] });
  expectUntouched();
});
