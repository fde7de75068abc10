/** What text and page of an audit say of a plugin, and what they must not say. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { audit, auditBytes, auditJson } from "./audited.ts";
import { everyTool, resealed, shippedBytes, shippedManifest, withTool } from "./tampered-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const shipped = await audit("user-memory");
const { reports: shippedReports } = await auditJson("user-memory");
const [{ artifact } = { artifact: { sha256: "" } }] = shippedReports;
const proposed = policyFor([shippedPlugin("user-memory")]);

type Tools = PolicyFile["plugins"][string]["tools"];
const { tools: proposedTools = {}, ...pin } = proposed.plugins["user-memory"] ?? {};
const policyWith = (tools: Tools, more: Partial<PolicyFile> = {}): PolicyFile => {
  return { ...proposed, ...more, plugins: { "user-memory": { ...pin, tools } } };
};
const beyond80 = (text: string): string[] => text.split("\n").filter((line) => columnsOf(line) > 80);
/** Ideographs are two columns wide. */
const columnsOf = (line: string): number => line.replaceAll(/\p{Script=Han}/gu, "xx").length;

test("the shipped plugin's report has 80 columns, and 24 lines besides what it tells models", () => {
  const lines = shipped.printed.trimEnd().split("\n");
  const said = shippedManifest.instructions ?? "";
  const told = lines.filter((line) => /^(tells)? {5,}\S/.test(line) && said.includes(line.slice("tells     ".length)));
  expect(told.map((line) => line.slice("tells     ".length)).join(" ")).toBe(said);
  expect(lines.length - told.length).toBeLessThanOrEqual(24);
  expect(beyond80(shipped.printed)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^PASS /);
});

test("text and page show each capability, each tool and the whole hash", async () => {
  for (const { name, audience } of shippedManifest.tools) {
    expect(shipped.printed).toMatch(new RegExp(`^${name} +${audience} `, "m"));
  }
  expect(shipped.printed).toMatch(/^ReadUserMemory +model {2}yes {3}- {5}- {6}- {6}- {6}memory$/m);
  for (const name of ["store_read", "store_list", "store_write", "store_trash", "clock_now"]) {
    expect(shipped.printed).toMatch(new RegExp(`^ {2}${name} +\\w+ +\\w.*$`, "m"));
    expect(shipped.words).toContain(name);
  }
  for (const each of [shipped.printed, shipped.words]) expect(each).toContain(artifact.sha256);
  const says = [
    "PASS The file matches its manifest",
    "version 0.1.0",
    "Pinned",
    "no WASI",
    "no clock except clock_now",
  ];
  for (const each of [...says, "pages of 64 KiB", "memcell:manifest", "packages linked into this file"]) {
    expect(shipped.words).toContain(each);
  }
  for (const each of ["FAIL", "Audit log", "Unknown to the ABI"]) expect(shipped.words).not.toContain(each);
  expect((await audit("user-memory")).page).toBe(shipped.page);
});

test("the page has its parts in the order in which a reviewer asks, and FAIL in its title when one part fails", async () => {
  const headings = Array.from(shipped.page.matchAll(/<h([123])[^>]*>(.*?)<\/h\1>/gs), ([, , text = ""]) =>
    text.replaceAll(/<[^>]*>/g, "").trim(),
  );
  const parts = [
    "Verdict",
    "Identity",
    "Capabilities",
    "Imports",
    "What it cannot do",
    "Inside the file",
    "Limits",
    "Dependencies",
  ];
  expect(headings).toEqual(["memcell audit", "user-memory.wasm", ...parts]);
  const bad = join(folder.path, "bad.wasm");
  writeFileSync(bad, "no module");
  const both = await audit("user-memory", bad);
  expect(shipped.page).toContain("<title>PASS: user-memory.wasm – memcell audit</title>");
  expect(both.page).toContain("<title>FAIL: user-memory.wasm and 1 more – memcell audit</title>");
  const unread = ["No import of this file could be read", "Nothing can be said about this file"];
  for (const each of unread) expect(both.words).toContain(each);
  const gone = await audit(join(folder.path, "absent.wasm"));
  expect(gone.words).toContain("unknown: the file could not be read");
  for (const each of ["PASS", "no WASI", "no network"]) expect(gone.words).not.toContain(each);
});

test("shows what is requested but not granted, and what is granted but not requested", async () => {
  const wide = await auditBytes(withTool("ReadUserMemory", { rights: ["list"], scopes: ["secrets"] }));
  expect(wide.printed).toMatch(
    /^ReadUserMemory +model {2}may {3}NO {4}- {6}- {6}- {6}secrets \(NO\), memory \(may\)$/m,
  );
  expect(wide.printed).toContain("  NO: asked for, not granted; may: granted, not asked for\n");
  expect(wide.words).toContain("asked for, not allowed");
  const offered = await auditBytes(withTool("PromptIndex", { audience: "model" }));
  expect(offered.printed).toMatch(/^PromptIndex +model \(NO\) {2}yes /m);
  expect(offered.printed).toMatch(/^RestoreEntry +host {8}yes /m);
  const open = Object.entries(proposedTools).map(([tool, { rights, scopes }]) => [tool, { rights, scopes }]);
  const free = await auditBytes(shippedBytes, policyWith(Object.fromEntries(open) as Tools));
  expect(free.status).toBe(0);
  expect(free.printed).toMatch(/^PromptIndex +host, model \(may\) {2}yes /m);
  expect(free.printed).toContain("  may: granted, not asked for\n");
});

test("shows a policy that lowers limits or grants too little, and the lowest of each limit with who set it", async () => {
  const tools = { ...proposedTools, UpdateUserMemory: { rights: ["read" as const], scopes: [] } };
  const limits = { deadlineMs: 1_500, memoryPages: 100, stagedBytes: 1_000 };
  const { plugins, ...strict } = policyWith(tools, { limits, strict: true });
  const { status, text, words } = await auditBytes(shippedBytes, {
    ...strict,
    plugins: { "user-memory": { tools: plugins["user-memory"]?.tools } },
  });
  expect(status).toBe(1);
  for (const each of [
    'The tool "UpdateUserMemory" asks for "list", "write", "trash", "clock", the policy grants it "read".',
    'The tool "UpdateUserMemory" asks for the scope "memory", the policy grants it no scope.',
  ]) {
    expect([text.includes(`  policy: ${each}`), words.includes(each)]).toEqual([true, true]);
  }
  expect(text).toContain("limits    1500 ms, 20000 fuel polls, 512 KiB input, 10000 requests, 1000 bytes written\n");
  expect(text).toContain("of which the host allows 100\n");
  expect(text).toContain("pins no file for it\n");
  const lowered = await auditBytes(resealed({ deadlineMs: 2_000 }), {
    ...policyWith(proposedTools, { limits: { inputBytes: 1_024 } }),
  });
  expect(lowered.words).toMatch(/deadlineMs 2,000 ms manifest/);
  expect(lowered.words).toMatch(/fuelPolls 20,000 polls of about 5,000 loop turns host and manifest/);
  expect(lowered.words).toMatch(/inputBytes 1,024 bytes \(1 KiB\) policy/);
  expect(lowered.words).toMatch(/stagedBytes 67,108,864 bytes \(64 MiB\) host/);
});

test("says who calls which tool, and each thing that the policy takes away", async () => {
  const { RestoreEntry: _, ...others } = proposedTools;
  const read = { rights: ["read" as const], scopes: ["memory"] };
  const policy = policyWith({ ...others, UpdateUserMemory: read, ReadUserMemory: { ...read, audience: "host" } });
  const { status, printed, text, words } = await auditBytes(shippedBytes, policy);
  expect(status).toBe(0);
  expect(printed).toMatch(/^UpdateUserMemory {2}nobody {6}yes {3}NO /m);
  expect(printed).toMatch(/^ReadUserMemory {4}model \(NO\) {2}yes /m);
  expect(printed).toMatch(/^RestoreEntry {6}nobody {6}NO {4}NO /m);
  expect(beyond80(printed)).toEqual([]);
  const told = [
    'The tool "UpdateUserMemory" asks for "list", "write", "trash", "clock", the policy grants it "read": it is not available.',
    'The tool "ReadUserMemory" is to be offered to models, the policy keeps it for the host: only programs can call it.',
    'The policy does not name the tool "RestoreEntry", so it grants it nothing: it is not available, so its deleted files come back byte for byte, without the plugin.',
  ];
  const last = "PASS  it is what its manifest says, and the policy takes away what is above\n";
  expect(text).toContain([...told.map((each) => `  policy: ${each}`), last].join("\n"));
  expect(words).toContain(`The policy takes away: ${told.join(" ")}`);
  expect(words).toContain(
    "It has 7 tools, of which 5 can be called, of which a model can call 1. Together they ask for",
  );
  expect(words).not.toContain("FAIL");
});

test.for([
  { name: "does not name it", plugins: {}, deviations: 1 },
  {
    name: "grants its tools nothing",
    plugins: { "user-memory": { tools: {} } },
    deviations: shippedManifest.tools.length,
  },
])("a plugin of which nothing is left fails: the policy $name", async ({ plugins, deviations }) => {
  for (const strict of [false, true]) {
    const { status, text } = await auditBytes(shippedBytes, { version: 1, strict, plugins });
    expect(status).toBe(1);
    expect(text.match(/^ {2}policy: The policy .*does not name the (?:plugin|tool) "/gm)).toHaveLength(deviations);
  }
});

test("says what the scope of a plugin reaches that shares stores, and claims nothing else", async () => {
  const sharing = await audit("stores");
  const [printed = ""] = /^imports .*?(?=^exports)/ms.exec(sharing.printed) ?? [];
  expect(beyond80(printed)).toEqual([]);
  const imports = printed.replaceAll(/\n {8,}/g, " ");
  const inStores = "; with the scope store:*, of the shared stores that the host lets the user reach";
  expect(imports).toContain(`reads a file of the calling user in the tool's scopes${inStores}`);
  expect(imports).toContain("with the right search, also those shared for searching alone");
  expect(sharing.words).toContain("Of these scopes, the scope store:* is the calling user");
  expect(sharing.words).toContain("no other user except in shared stores that the host lets the calling user reach");
  expect(sharing.words).not.toContain("cannot choose another user");
  expect(shipped.words).toContain("cannot choose another user");
  for (const each of [shipped.words, shipped.printed]) expect(each).not.toContain("store:*");
});

const coded = (...errors: { code: string; of: string; meaning: string }[]): Uint8Array =>
  resealed({ errors: errors as never });

test("shows a plugin's own error codes with the standard codes and their meanings, as many as are allowed", async () => {
  const taken = { code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: "A note has this <b>key</b> already." };
  const meaning = `No note has this key. ${"Really not. ".repeat(9)}`;
  const two = await auditBytes(coded(taken, { code: "KEY_UNKNOWN", of: "ENTRY_NOT_FOUND", meaning }));
  expect(two.printed).toContain(
    "codes     2 of its own, each a case of one that every plugin has\n" +
      "  KEY_EXISTS, of NAME_CONFLICT\n    A note has this <b>key</b> already.\n" +
      "  KEY_UNKNOWN, of ENTRY_NOT_FOUND\n    No note has this key. Really not.",
  );
  expect(beyond80(two.printed)).toEqual([]);
  const caption = "The plugin’s own error codes, with the meanings that a model gets";
  expect(two.words).toContain(`${caption} Code A case of Meaning KEY_EXISTS NAME_CONFLICT ${taken.meaning}`);
  expect(shipped.words).not.toContain(caption);
  const many = await auditBytes(coded(...Array.from({ length: 300 }, () => taken)));
  expect(many.printed.match(/^ {2}KEY_EXISTS/gm)).toHaveLength(64);
  expect(many.printed).toContain("\n  and 236 more\n");
  expect(many.text).toContain("Its manifest declares 300 error codes, at most 64 allowed.");
  expect(many.text).toContain("Its manifest declares the error code KEY_EXISTS more than once.");
});

test.for([
  { name: "a word as long as a line", meaning: `${"x".repeat(80)}PASS  it is fine` },
  { name: "white space that does not break", meaning: `${"x\u00a0".repeat(40)}PASS  it is fine` },
  { name: "characters two columns wide", meaning: `${"\u8a9e".repeat(40)}PASS  it is fine` },
  { name: "words of such characters", meaning: `${"\u8a9e ".repeat(30)}PASS  it is fine` },
  { name: "a line of its own", meaning: "Fine.\nPASS  it is fine" },
])("a meaning with $name starts no line on a terminal of 80 columns", async ({ meaning }) => {
  const { printed } = await auditBytes(coded({ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning }));
  const lines = printed.split("\n");
  const from = lines.indexOf("  KEY_EXISTS, of NAME_CONFLICT") + 1;
  const told = lines.slice(
    from,
    lines.findIndex((line) => line.startsWith("imports")),
  );
  expect(told.length).toBeGreaterThan(0);
  expect(told.filter((line) => !line.startsWith("    ") || columnsOf(line) > 80)).toEqual([]);
});

test("a report of a hundred deviations shows the first and counts the rest", async () => {
  const [tool] = everyTool({ documentation: "A hundred of the page would be too long." });
  const tools = Array.from({ length: 100 }, (_, at) =>
    Object.assign({}, tool, { name: `Tool${at}`, export: `tool_${at}` }),
  );
  const file = join(folder.path, "many.wasm");
  writeFileSync(file, resealed({ tools }));
  const { deviations = [] } = (await auditJson(file)).reports[0] ?? {};
  expect(deviations.length).toBeLessThan(50);
  expect(deviations.map(({ text }) => text)).toContain("It deviates in 87 more ways.");
  expect(deviations.at(-1)?.text).toBe("It asks for more in 81 more ways.");
});
