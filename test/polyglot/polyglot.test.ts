/** The same plugin file under two further SDKs: every host gives the same envelopes and leaves the same files. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { isInstalled, prepareGoHost, preparePythonHost, runOnNode, runProgram } from "./run-host.ts";
import type { HostReport, Step } from "./run-host.ts";

/** A first run downloads modules or wheels. */
const timeoutMs = 5 * 60_000;

/** 65,536 bytes, as large as a body may be, in characters of one, three and four bytes. */
const largestBody = "日本語 🎌\r\n---\n".repeat(3276) + "x".repeat(16);

const name = "preferred-language";
const upsert = (description: string, body: string): Step => ({
  export: "update_user_memory",
  input: { action: "upsert", name, type: "user", description, body },
});
const read: Step = { export: "read_user_memory", input: { name } };
const remove: Step = { export: "update_user_memory", input: { action: "delete", name } };

const steps: readonly Step[] = [
  upsert("ユーザーは日本語の回答を好む", "常に日本語で答える。\n"),
  upsert("Answers in English 🎌, <b>please</b>", "\r\n---\nAlways answer in English.\u2028"),
  read,
  { export: "prompt_index", input: {} },
  { export: "update_user_memory", input: { action: "delete", name: "../x" } },
  remove,
  read,
  upsert("The second file for the trash in the same millisecond", ""),
  remove,
  upsert("The largest body", largestBody),
  read,
];

let folder: string;
let onNode: HostReport;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "memcell-polyglot-"));
  onNode = await runOnNode(join(folder, "data"), steps);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Otherwise hosts that all fail alike would pass. */
test("the steps do on the Node host what they are here for", () => {
  const stamp = "20231114T221320000Z";
  expect(onNode.answers).toEqual([
    expect.objectContaining({ data: { name, outcome: "created", path: `${name}.md`, trashed: null } }),
    expect.objectContaining({ data: { name, outcome: "replaced", path: `${name}.md`, trashed: null } }),
    { ok: true, message: expect.any(String), data: expect.objectContaining({ created: "2023-11-14T22:13:20.000Z" }) },
    expect.stringContaining(`- [${name}](${name}.md) — Answers in English 🎌, &lt;b>please&lt;/b>\n`),
    { ok: false, error: expect.objectContaining({ code: "INPUT_INVALID" }) },
    expect.objectContaining({ ok: true }),
    { ok: false, error: expect.objectContaining({ code: "ENTRY_NOT_FOUND" }) },
    expect.objectContaining({ ok: true }),
    expect.objectContaining({ ok: true }),
    expect.objectContaining({ ok: true }),
    { ok: true, message: expect.any(String), data: expect.objectContaining({ body: largestBody }) },
  ]);
  expect(Buffer.byteLength(largestBody)).toBe(65_536);
  expect(Object.keys(onNode.files).toSorted()).toEqual([
    "MEMORY.md",
    `${name}.md`,
    `trash/${name}.${stamp}-2.md`,
    `trash/${name}.${stamp}.md`,
  ]);
});

const programs = [
  { host: "Go", command: "go", versionOption: "version", prepare: prepareGoHost },
  { host: "Python", command: "python3", versionOption: "--version", prepare: preparePythonHost },
];

for (const { host, command, versionOption, prepare } of programs) {
  test(`the ${host} host answers and writes as the Node host does`, { timeout: timeoutMs }, async (ctx) => {
    if (!(await isInstalled(command, versionOption))) {
      const reason = `no ${host} host: "${command} ${versionOption}" fails`;
      // Only the verbose reporter shows why a test was skipped.
      console.warn(reason);
      ctx.skip(reason);
    }
    const program = await prepare(folder, ctx.signal);
    expect(await runProgram(program, steps, ctx.signal)).toEqual(onNode);
  });
}
