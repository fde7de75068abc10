/**
 * What every host must do but no vector can show: answer the lines of the README; refuse files that are not plugins, and a folder that is in use; tell times
 * in a listing; rebuild the index of a large folder in one call.
 */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { tryLock } from "fs-native-extensions";
import { describe, expect, inject, test } from "vitest";

import { foundFiles } from "../conformance/vector-files.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { LineHost } from "./line-host.ts";
import type { HostedCall } from "./line-host.ts";
import { programOf } from "./program-of.ts";

/** The exchanges in host/polyglot/README.md, with this machine's paths and the plugin's hash. */
function exchanges(dataDir: string): { sent: object; answer: unknown }[] {
  const blocks = blocksIn(textOf("host/polyglot/README.md")).filter(({ language }) => language === "");
  return blocks.map(({ text }) => {
    const [, sent = "", answer = ""] = /^→ (.*)\n← (.*)$/.exec(text) ?? [];
    const here = sent
      .replace('"dist/plugins/user-memory.wasm"', JSON.stringify(shippedPlugin("user-memory")))
      .replace('"dataDir":"data"', `"dataDir":${JSON.stringify(dataDir)}`)
      .replace('"sha256":"…"', `"sha256":"${sha256}"`);
    return { sent: JSON.parse(here) as object, answer: JSON.parse(answer) as unknown };
  });
}

const shipped = readFileSync(shippedPlugin("user-memory"));
const sha256 = createHash("sha256").update(shipped).digest("hex");
const manifest = guestManifest("guest", { Guest: "guest" }, ["read"]);
const sealed = JSON.stringify(manifest);
const plain = guest("");

/** WebAssembly text of a guest that does nothing, with further lines before its memory. */
function guest(lines: string): string {
  return `(module ${lines} (memory (export "memory") 1 4) (func (export "guest") (result i32) (i32.const 0)))`;
}

const abi1 = expect.stringContaining("ABI version 1") as string;

const files: readonly { name: string; bytes: () => Uint8Array }[] = [
  { name: "a file that is not WebAssembly", bytes: () => new TextEncoder().encode("no plugin") },
  { name: "an empty file", bytes: () => new Uint8Array() },
  { name: "half a plugin", bytes: () => shipped.subarray(0, shipped.length / 2) },
  { name: "a plugin without a manifest", bytes: () => assembleGuest(plain, []) },
  { name: "a plugin with two manifests", bytes: () => assembleGuest(plain, [sealed, sealed]) },
  { name: "a manifest that is not JSON", bytes: () => assembleGuest(plain, ["{"]) },
  { name: "a manifest of another ABI", bytes: () => assembleGuest(plain, [JSON.stringify({ ...manifest, abi: 2 })]) },
  {
    name: "a plugin that imports WASI",
    bytes: () => importing("wasi_snapshot_preview1", "random_get", "(param i32 i32) (result i32)"),
  },
  {
    name: "a plugin that imports an unknown capability",
    bytes: () => importing("extism:host/user", "store_erase", "(param i64) (result i64)"),
  },
];

const importing = (module: string, name: string, type: string): Uint8Array =>
  assembleGuest(guest(`(import "${module}" "${name}" (func ${type}))`), [sealed]);

const upsert = {
  tool: "UpdateUserMemory",
  context: { userId: "alice", epochMs: 1_700_000_000_000 },
  input: { action: "upsert", name: "a", type: "user", description: "A fact", body: "" },
} satisfies HostedCall;

describe.for(inject("hosts"))("$language", (host) => {
  test("answers the lines of the README", async (context) => {
    using folder = temporaryFolder();
    await using lines = new LineHost(programOf(host, context));
    for (const { sent, answer } of exchanges(folder.path)) {
      // oxlint-disable-next-line no-await-in-loop -- the protocol is line by line
      expect(await lines.ask(sent)).toEqual(answer);
    }
  });

  test("refuses the plugin of shared stores, unless it has ABI version 2", async (context) => {
    using folder = temporaryFolder();
    await using running = new LineHost(programOf(host, context));
    const answer = await running.ask({ plugin: shippedPlugin("stores"), dataDir: folder.path });
    if (host.language === "Node") expect(answer).toEqual({ ok: true });
    else expect(answer).toMatchObject({ ok: false, error: { code: "PLUGIN_REFUSED", message: abi1 } });
  });

  test.for(files)("refuses $name", async ({ bytes }, context) => {
    using folder = temporaryFolder();
    const plugin = join(folder.path, "guest.wasm");
    writeFileSync(plugin, bytes());
    await using running = new LineHost(programOf(host, context));
    const answer = await running.ask({ plugin, dataDir: join(folder.path, "data") });
    expect(answer).toMatchObject({ ok: false, error: { code: "PLUGIN_REFUSED" } });
    expect(JSON.stringify(answer)).not.toContain(folder.path);
    expect(await running.end()).toBe(1);
  });

  test("loads the pinned file and no other", async (context) => {
    using folder = temporaryFolder();
    const hosted = { plugin: shippedPlugin("user-memory"), dataDir: folder.path };
    const program = programOf(host, context);
    await using running = await LineHost.start(program, { ...hosted, sha256 });
    expect(await running.ask(upsert)).toMatchObject({ ok: true });
    const another = sha256.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    await expect(LineHost.start(program, { ...hosted, sha256: another })).rejects.toThrow("PLUGIN_REFUSED");
  });

  test("refuses a user's folder that another host is using", async (context) => {
    // The Node host waits for its turn, longer than a test can. test/hammer tests that.
    if (host.language === "Node") return;
    using folder = temporaryFolder();
    await using running = await LineHost.start(programOf(host, context), {
      plugin: shippedPlugin("user-memory"),
      dataDir: folder.path,
    });
    expect(await running.ask(upsert)).toMatchObject({ ok: true });
    const before = foundFiles(folder.path);
    const lock = openSync(join(folder.path, "users/alice/.memcell/lock"), "r+");
    expect(tryLock(lock)).toBe(true);
    expect(await running.ask({ ...upsert, input: { action: "delete", name: "a" } })).toMatchObject({
      ok: false,
      error: { code: "BUSY" },
    });
    expect(foundFiles(folder.path)).toEqual(before);
    closeSync(lock);
    expect(await running.ask({ ...upsert, input: { action: "delete", name: "a" } })).toMatchObject({ ok: true });
  });

  /** Every host here does. The contract lets a host leave it out. */
  test("tells the time of a file's last change", async (context) => {
    using folder = temporaryFolder();
    const hosted = { plugin: testPlugin("puppet"), dataDir: folder.path };
    await using running = await LineHost.start(programOf(host, context), hosted);
    const lastReply = async (...steps: object[]): Promise<unknown> => {
      const answer = await running.ask({ tool: "Puppet", context: { userId: "alice" }, input: steps });
      expect(answer).toMatchObject({ ok: true });
      return JSON.parse((answer as { data: string[] }).data.at(-1) ?? "null") as unknown;
    };
    expect(await lastReply(write, list)).toEqual({ ok: true, entries: [{ path: "a.md", bytes: 1, changedUs: 0 }] });
    const reply = (await lastReply(list)) as { entries: { changedUs: number }[] };
    const changedUs = reply.entries[0]?.changedUs ?? 0;
    expect(Number.isInteger(changedUs)).toBe(true);
    expect(Math.abs(changedUs - Date.now() * 1_000)).toBeLessThan(600_000_000);
    utimesSync(join(folder.path, "users/alice/memory/a.md"), 1, 1);
    const later = (await lastReply(list)) as { entries: { changedUs: number }[] };
    expect(later.entries[0]?.changedUs).toBeGreaterThanOrEqual(changedUs);
  });

  test("rebuilds the index of a large folder", async (context) => {
    const entries = entriesOf(host.language);
    const names = Array.from({ length: entries - 1 }, (_, at) => `entry-${String(at).padStart(4, "0")}`);
    using folder = temporaryFolder();
    const memory = join(folder.path, "users/alice/memory");
    mkdirSync(memory, { recursive: true });
    for (const name of names) writeFileSync(join(memory, `${name}.md`), fact(name));
    const hosted = { plugin: shippedPlugin("user-memory"), dataDir: folder.path };
    await using running = await LineHost.start(programOf(host, context), hosted);
    const start = performance.now();
    expect(await running.ask({ ...upsert, input: { ...upsert.input, name: "last" } })).toMatchObject({
      ok: true,
      data: { outcome: "created" },
    });
    console.log(`${host.language}: an index of ${entries} entries in ${Math.round(performance.now() - start)} ms`);
    const { "memory/MEMORY.md": index } = foundFiles(folder.path)["alice"] ?? {};
    expect(index).toBe([...names, "last"].map(line).join(""));
  });
});

/**
 * 1,000 is the most entries that a user can have. On Java the engine's main function is too large for the JVM's
 * compilers and is interpreted, so 1,000 take longer than a call's 10 s.
 */
const entriesOf = (language: string): number => (language === "Java" ? 100 : 1000);
const fact = (name: string): string => `---\nname: ${name}\ndescription: A fact\ntype: user\n---\nBody of ${name}\n`;
const line = (name: string): string => `- [${name}](${name}.md) \u2014 A fact\n`;

const write = { of: "store_write", ask: { scope: "memory", path: "a.md", content: "x" } };
/** The reply as the host wrote it. */
const list = { of: "store_list", request: JSON.stringify({ scope: "memory" }) };
