/** The text of an audit: what passes fits on one screen, and no name in the file can control the terminal. */
import { stripVTControlCharacters } from "node:util";

import type { PolicyFile } from "memcell";
import { expect, test } from "vitest";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { proposePolicy } from "../../host/plugins/policy/propose-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { textReport } from "../../host/report/text-report.ts";
import { visibleJson, visibleText } from "../../host/values/visible-text.ts";
import { hostileTexts, unsafeOnTerminal } from "./hostile-names.ts";
import { unwrapped } from "./run-audit.ts";
import { everyTool, resealed, shippedBytes, shippedManifest, withCustomSections } from "./tamper.ts";

const shipped = readArtifact(shippedBytes, "user-memory.wasm");
const policy = await loadPolicy(undefined);
/** Names and versions as long as those of the linked packages. */
const packages = [
  "gray-matter 4.0.3",
  "js-yaml 5.5.0",
  "quickjs-ng 0.17.0",
  "quickjs-wasi 3.6.2",
  "strip-bom-string 1.0.0",
  "zod 4.6.7",
].map((each) => ({ name: each.split(" ")[0] ?? "", version: each.split(" ")[1] ?? "", licence: "MIT" }));
const passing = makeReport({ artifact: shipped, policy, dependencies: packages });
const plain = (report: AuditReport): string => textReport(report, { isColoured: false });

test("the shipped plugin's report has 80 columns, and 24 lines besides what it tells models", () => {
  const lines = plain(passing).split("\n");
  const said = shippedManifest.instructions ?? "";
  const told = lines.filter((line) => /^(tells)? {5,}\S/.test(line) && said.includes(line.slice("tells     ".length)));
  expect(told.map((line) => line.slice("tells     ".length)).join(" ")).toBe(said);
  expect(passing.verdict).toBe("PASS");
  expect(lines.length - told.length).toBeLessThanOrEqual(24);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^PASS /);
});

test("the report shows each capability, each tool and the whole hash", () => {
  const text = plain(passing);
  for (const { name, right, meaning } of shipped.imports.filter((each) => each.right !== null)) {
    expect(text).toMatch(new RegExp(`^ {2}${name} +${right} +${meaning}$`, "m"));
  }
  for (const { name, audience } of shippedManifest.tools)
    expect(text).toMatch(new RegExp(`^${name} +${audience} `, "m"));
  expect(text).toContain(shipped.sha256);
  expect(text).toMatch(/^ReadUserMemory +model {2}yes {3}- {5}- {6}- {6}- {6}memory$/m);
});

test("the table shows what is requested but not granted, and what is granted but not requested", async () => {
  const wide = shippedManifest.tools.map((tool) =>
    tool.name === "ReadUserMemory" ? { ...tool, rights: ["list" as const], scopes: ["secrets"] } : tool,
  );
  const artifact = readArtifact(resealed({ tools: wide }), "wide.wasm");
  const text = plain(makeReport({ artifact, policy, dependencies: null }));
  expect(text).toMatch(/^ReadUserMemory +model {2}may {3}NO {4}- {6}- {6}- {6}secrets \(NO\), memory \(may\)$/m);
  expect(text).toContain("  NO: asked for, not granted; may: granted, not asked for\n");
});

test("shows a tool that is offered to models against the policy in its row, and one that might be", async () => {
  const tools = shippedManifest.tools.map((tool) =>
    tool.name === "PromptIndex" ? { ...tool, audience: "model" as const } : tool,
  );
  const artifact = readArtifact(resealed({ tools }), "offered.wasm");
  const report = makeReport({ artifact, policy: await loadPolicy(undefined), dependencies: null });
  expect(plain(report)).toMatch(/^PromptIndex +model \(NO\) {2}yes /m);
  expect(plain(report)).toMatch(/^RestoreEntry +host {8}yes /m);
  expect(report.tools.find(({ name }) => name === "PromptIndex")).toMatchObject({
    audience: "model",
    allowed: { audience: "host" },
  });
  const open = await loadPolicy(offeredToModels(proposePolicy(shippedManifest, shipped.sha256)));
  const wide = makeReport({ artifact: shipped, policy: open, dependencies: null });
  expect(wide.verdict).toBe("PASS");
  expect(plain(wide)).toMatch(/^PromptIndex +host, model \(may\) {2}yes /m);
  expect(plain(wide)).toContain("  may: granted, not asked for\n");
});

/** A policy without audiences for its tools. */
function offeredToModels({ plugins, ...file }: PolicyFile): PolicyFile {
  const open = Object.entries(plugins).map(([name, { tools }]) => [
    name,
    {
      tools: Object.fromEntries(Object.entries(tools).map(([tool, { rights, scopes }]) => [tool, { rights, scopes }])),
    },
  ]);
  return { ...file, plugins: Object.fromEntries(open) as PolicyFile["plugins"] };
}

test("reports a policy that lowers a limit or grants too little", async () => {
  const proposed = proposePolicy(shippedManifest, shipped.sha256);
  const [name = ""] = Object.keys(proposed.plugins);
  const tools = { ...proposed.plugins[name]?.tools, UpdateUserMemory: { rights: ["read" as const], scopes: [] } };
  const limits = { deadlineMs: 1_500, memoryPages: 100, stagedBytes: 1_000 };
  const strict = await loadPolicy({ ...proposed, limits, strict: true, plugins: { [name]: { tools } } });
  const report = makeReport({ artifact: shipped, policy: strict, dependencies: null });
  expect(report.verdict).toBe("FAIL");
  expect(report.narrowings).toEqual([]);
  expect(new Set(report.tools.map(({ callers }) => callers))).toEqual(new Set(["nobody"]));
  expect(report.deviations.map(({ about, text }) => `${about}: ${text}`)).toEqual([
    'policy: The tool "UpdateUserMemory" asks for "list", "write", "trash", "clock", the policy grants it "read".',
    'policy: The tool "UpdateUserMemory" asks for the scope "memory", the policy grants it no scope.',
  ]);
  expect(unwrapped(plain(report))).toContain(
    "limits    1500 ms, 20000 fuel polls, 512 KiB input, 10000 requests, 1000 bytes written\n",
  );
  expect(plain(report)).toContain("of which the host allows 100\n");
  expect(plain(report)).toContain("pins no file for it\n");
});

test("shows a plugin's own error codes with the standard codes and their meanings", async () => {
  const errors = [
    { code: "KEY_EXISTS", of: "NAME_CONFLICT" as const, meaning: "A note has this key already, in whichever file." },
    {
      code: "KEY_UNKNOWN",
      of: "ENTRY_NOT_FOUND" as const,
      meaning: `No note has this key. ${"Really not. ".repeat(9)}`,
    },
  ];
  const artifact = readArtifact(resealed({ errors }), "coded.wasm");
  const open = await loadPolicy(proposePolicy(shippedManifest, artifact.sha256));
  const report = makeReport({ artifact, policy: open, dependencies: null });
  expect(report.verdict).toBe("PASS");
  expect(plain(report)).toContain(
    "codes     2 of its own, each a case of one that every plugin has\n" +
      "  KEY_EXISTS, of NAME_CONFLICT\n    A note has this key already, in whichever file.\n" +
      "  KEY_UNKNOWN, of ENTRY_NOT_FOUND\n    No note has this key. Really not.",
  );
  expect(
    plain(report)
      .split("\n")
      .filter((line) => line.length > 80),
  ).toEqual([]);
  expect(JSON.parse(visibleJson(report))).toMatchObject({ artifact: { manifest: { errors } } });
});

test("with too many error codes, the text shows as many as are allowed and the verdict reports the rest", () => {
  const errors = Array.from({ length: 300 }, () => ({
    code: "KEY_EXISTS",
    of: "NAME_CONFLICT" as const,
    meaning: "Taken.",
  }));
  const artifact = readArtifact(resealed({ errors }), "coded.wasm");
  const printed = plain(makeReport({ artifact, policy, dependencies: null }));
  expect(printed.match(/^ {2}KEY_EXISTS/gm)).toHaveLength(64);
  expect(printed).toContain("\n  and 236 more\n");
  expect(unwrapped(printed)).toContain("Its manifest declares 300 error codes, at most 64 allowed.");
  expect(unwrapped(printed)).toContain("Its manifest declares the error code KEY_EXISTS more than once.");
});

test.for([
  { name: "a word as long as a line", meaning: `${"x".repeat(80)}PASS  it is fine` },
  { name: "white space that does not break", meaning: `${"x\u00a0".repeat(40)}PASS  it is fine` },
  { name: "characters two columns wide", meaning: `${"\u8a9e".repeat(40)}PASS  it is fine` },
  { name: "words of such characters", meaning: `${"\u8a9e ".repeat(30)}PASS  it is fine` },
  { name: "a line of its own", meaning: "Fine.\nPASS  it is fine" },
])("a meaning with $name starts no line on a terminal of 80 columns", ({ meaning }) => {
  const artifact = readArtifact(
    resealed({ errors: [{ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning }] }),
    "coded.wasm",
  );
  const lines = plain(makeReport({ artifact, policy, dependencies: null })).split("\n");
  const told = lines.slice(
    lines.indexOf("  KEY_EXISTS, of NAME_CONFLICT") + 1,
    lines.findIndex((line) => line.startsWith("imports")),
  );
  expect(told.length).toBeGreaterThan(0);
  expect(told.filter((line) => !line.startsWith("    ") || columnsOf(line) > 80)).toEqual([]);
});

/** Ideographs are two columns wide. */
const columnsOf = (line: string): number => line.replaceAll(/\p{Script=Han}/gu, "xx").length;

test.for(hostileTexts)("$name in every name of a file prints only visible characters", ({ text }) => {
  const evil = JSON.stringify(text).slice(1, -1);
  const tools = everyTool({ description: text, name: text, scopes: [text] });
  for (const bytes of [
    withCustomSections(text, `\n${text}\nPASS`),
    resealed({ name: text }),
    resealed({ tools }),
    resealed({ [text]: text }),
    resealed({ version: evil }),
    resealed({ errors: [{ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: text }] }),
    resealed({ instructions: text }),
  ]) {
    const artifact = readArtifact(bytes, `${text}.wasm`);
    const report = makeReport({ artifact, policy: { ...policy, name: `${text}.json` }, dependencies: null });
    const printed = plain(report);
    expect(printed).not.toMatch(unsafeOnTerminal);
    expect(printed.split("\n").filter((line) => line.startsWith("PASS"))).toEqual([]);
    expect(visibleJson(report)).not.toMatch(unsafeOnTerminal);
    expect(JSON.parse(visibleJson(report))).toEqual(JSON.parse(JSON.stringify(report)));
    const coloured = textReport(report, { isColoured: true });
    expect(stripVTControlCharacters(coloured)).toBe(printed);
  }
});

test("escapes every invisible character and every one that a terminal acts on", () => {
  const shown: string[] = [];
  for (let code = 0; code <= 0x10_ffff; code++) {
    const character = String.fromCodePoint(code);
    const isUnseen = /\p{C}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u.test(character);
    if (isUnseen === (visibleText(character) === character)) shown.push(code.toString(16));
  }
  expect(shown).toEqual([]);
});

test("a report of a hundred deviations shows the first and counts the rest", () => {
  const many = Array.from({ length: 100 }, (_, at) => ({
    ...shippedManifest.tools[0],
    documentation: "A hundred of the page would be too long.",
    name: `Tool${at}`,
    export: `tool_${at}`,
  }));
  const artifact = readArtifact(resealed({ tools: many as typeof shippedManifest.tools }), "many.wasm");
  const { deviations } = makeReport({ artifact, policy, dependencies: null });
  expect(deviations.length).toBeLessThan(50);
  expect(deviations.map(({ text }) => text)).toContain("It deviates in 87 more ways.");
  expect(deviations.at(-1)?.text).toBe("It asks for more in 81 more ways.");
});
