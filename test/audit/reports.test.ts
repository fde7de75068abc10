/** What text and page of an audit say of a plugin and a policy, and what they must not say. */
import { join } from "node:path";

import type { PolicyFile } from "memcell";
import { expect, test } from "vitest";

import { pageLimits } from "../../shared/limits.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { audit, auditBytes } from "./audited.ts";
import { everyTool, imported, resealed, shippedBytes, shippedManifest, withTool } from "./changed-plugin.ts";

const shipped = await audit("user-memory");
const proposed = policyFor([shippedPlugin("user-memory")]);

type Tools = PolicyFile["plugins"][string]["tools"];
const { tools: proposedTools = {}, sha256 = [] } = proposed.plugins["user-memory"] ?? {};
const policyWith = (tools: Tools, more: Partial<PolicyFile> = {}): PolicyFile => {
  return { ...proposed, ...more, plugins: { "user-memory": { sha256, tools } } };
};
const beyond80 = (text: string): string[] => text.split("\n").filter((line) => columnsOf(line) > 80);
/** Ideographs are two columns wide. */
const columnsOf = (line: string): number => line.replaceAll(/\p{Script=Han}/gu, "xx").length;

test("text and page show the verdict, the hash, each capability and each tool, and what a model is told", async () => {
  for (const { name, audience } of shippedManifest.tools) {
    expect(shipped.printed).toMatch(new RegExp(`^${name} +${audience} `, "m"));
  }
  for (const shown of [shipped.printed, shipped.words]) {
    for (const each of ["PASS", ...sha256, "store_read", "store_list", "store_write", "store_trash", "clock_now"])
      expect(shown).toContain(each);
  }
  expect(shipped.text.replaceAll(/\s+/g, " ")).toContain(shippedManifest.instructions);
  expect(beyond80(shipped.printed)).toEqual([]);
  for (const each of ["Pinned", "no WASI", "no clock except clock_now", "packages linked into this file"])
    expect(shipped.words).toContain(each);
  for (const each of ["FAIL", "Audit log", "Unknown to the ABI"]) expect(shipped.words).not.toContain(each);
  expect(shipped.page).toContain("<title>PASS: user-memory.wasm – memcell audit</title>");
  expect((await audit("user-memory")).page).toBe(shipped.page);
});

test("a page of which one part fails says so in its title, and claims nothing of what is not known", async () => {
  const absent = join("nowhere", "absent.wasm");
  const both = await audit("user-memory", absent);
  expect(both.page).toContain("<title>FAIL: user-memory.wasm and 1 more – memcell audit</title>");
  const gone = await audit(absent);
  for (const each of ["unknown: the file could not be read", "Nothing can be said about this file"])
    expect(gone.words).toContain(each);
  const unknown = await auditBytes(imported("wasi_snapshot_preview1", "fd_write"));
  expect(unknown.words).toContain("Nothing can be said about this file: it has 1 import that the ABI does not know.");
  for (const { words } of [gone, unknown])
    for (const each of ["PASS", "no WASI", "no network"]) expect(words).not.toContain(each);
});

test("shows what is requested but not granted, and what is granted but not requested", async () => {
  const wide = await auditBytes(withTool("ReadUserMemory", { rights: ["clock"], scopes: ["secrets"] }));
  expect(wide.printed).toMatch(/^ReadUserMemory +model +may +may +- +- +NO +secrets \(NO\), memory \(may\)$/m);
  expect(wide.words).toContain("asked for, not allowed");
  const offered = await auditBytes(withTool("PromptIndex", { audience: "model" }));
  expect(offered.printed).toMatch(/^PromptIndex +model \(NO\) +yes /m);
  const open = Object.entries(proposedTools).map(([tool, { rights, scopes }]) => [tool, { rights, scopes }]);
  const free = await auditBytes(shippedBytes, policyWith(Object.fromEntries(open) as Tools));
  expect(free.status).toBe(0);
  expect(free.printed).toMatch(/^PromptIndex +host, model \(may\) +yes /m);
});

// That each thing is taken away: `test/unit/policy.test.ts`.
test("says who calls which tool, and each thing that the policy takes away", async () => {
  const { RestoreEntry: _, ...others } = proposedTools;
  const read = { rights: ["read" as const], scopes: ["memory"] };
  const policy = policyWith({
    ...others,
    UpdateUserMemory: read,
    ReadUserMemory: { ...read, rights: ["read", "list"], audience: "host" },
  });
  const { status, printed, text, words } = await auditBytes(shippedBytes, policy);
  expect(status).toBe(0);
  expect(printed).toMatch(/^UpdateUserMemory +nobody +yes +NO /m);
  expect(printed).toMatch(/^ReadUserMemory +model \(NO\) +yes /m);
  expect(printed).toMatch(/^RestoreEntry +nobody +NO +NO /m);
  expect(beyond80(printed)).toEqual([]);
  const told = [
    'The tool "UpdateUserMemory" asks for "list", "write", "trash", "clock", the policy grants it "read": it is not available.',
    'The tool "ReadUserMemory" is to be offered to models, the policy keeps it for the host: only programs can call it.',
    'The policy does not name the tool "RestoreEntry", so it grants it nothing: it is not available, so its deleted files come back byte for byte, without the plugin.',
  ];
  const last = "PASS  it is what its manifest says, and the policy takes away what is above\n";
  expect(text).toContain([...told.map((each) => `  policy: ${each}`), last].join("\n"));
  expect(words).toContain(`The policy takes away: ${told.join(" ")}`);
  expect(words).toContain("It has 8 tools, of which 6 can be called, of which a model can call 1.");
  expect(words).not.toContain("FAIL");
});

test("says what the scope of a plugin reaches that shares stores, and claims nothing else", async () => {
  const sharing = await audit("stores");
  const inStores = "; with the scope store:*, of the shared stores that the host lets the user reach";
  expect(sharing.text).toContain(`reads a file of the calling user in the tool's scopes${inStores}`);
  expect(sharing.words).toContain("no other user except in shared stores that the host lets the calling user reach");
  expect(sharing.words).not.toContain("cannot choose another user");
  expect(shipped.words).toContain("cannot choose another user");
  for (const each of [shipped.words, shipped.printed]) expect(each).not.toContain("store:*");
});

const coded = (...errors: { code: string; of: string; meaning: string }[]): Uint8Array =>
  resealed({ errors: errors as never });

test("shows a plugin's own error codes with the standard codes and their meanings, as many as are allowed", async () => {
  const taken = { code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: "A note has this <b>key</b> already." };
  const one = await auditBytes(coded(taken));
  expect(one.printed).toContain(`\n  KEY_EXISTS, of NAME_CONFLICT\n    ${taken.meaning}\n`);
  expect(one.words).toContain(`KEY_EXISTS NAME_CONFLICT ${taken.meaning}`);
  const many = await auditBytes(coded(...Array.from({ length: 300 }, () => taken)));
  expect(many.printed.match(/^ {2}KEY_EXISTS/gm)).toHaveLength(64);
  expect(many.printed).toContain("\n  and 236 more\n");
});

test.for([
  { name: "a word as long as a line", meaning: `${"x".repeat(80)}PASS  it is fine` },
  { name: "words of such characters", meaning: `${"\u8a9e ".repeat(30)}PASS  it is fine` },
  { name: "a line of its own", meaning: "Fine.\nPASS  it is fine" },
])("a meaning with $name starts no line on a terminal of 80 columns", async ({ meaning }) => {
  const { printed } = await auditBytes(coded({ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning }));
  const [, told = ""] = /^ {2}KEY_EXISTS, of NAME_CONFLICT\n(.*?)^imports/ms.exec(printed) ?? [];
  const lines = told.trimEnd().split("\n");
  expect(lines.filter((line) => !line.startsWith("    ") || columnsOf(line) > 80)).toEqual([]);
});

test("a report of a file with many tools and deviations shows the first of each and counts the rest", async () => {
  const small = {
    description: "A tool.",
    documentation: "A page.",
    input: { type: "object" },
    output: { type: "object" },
  };
  const [tool] = everyTool(small);
  const tools = Array.from({ length: pageLimits.rowsMax + 7 }, (_, at) =>
    Object.assign({}, tool, { name: `Tool${at}`, export: `tool_${at}` }),
  );
  const { text, page, words } = await auditBytes(resealed({ tools }));
  expect(text.match(/^ {2}(?:file|policy): /gm)?.length).toBeLessThan(50);
  expect(text).toMatch(/It deviates in \d+ more ways\./);
  expect(text).toMatch(/It asks for more in \d+ more ways\./);
  expect(words.match(/and 7 more, which are not shown/g)).toHaveLength(2);
  expect(page.length).toBeLessThan(2 * 1024 * 1024);
});
