/**
 * Guests that read beyond the bytes they were given. The Extism SDK exposes the whole ArrayBuffer behind a Buffer, and
 * so other data in Node's pool. The host passes strings instead: a guest finds nothing before or after them.
 */
import { readFileSync } from "node:fs";

import { createPlugin } from "@extism/extism";
import type { CallContext } from "@extism/extism";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";

const secret = "S3CRET";
const ownFile = "a file of alice";

let stage: GuestStage;
beforeAll(async () => {
  stage = await openGuestStage((folder) => [writeGuest(folder, "prowler", { Prowl: "prowl" }, { Prowl: ["read"] })]);
  writeUserFiles(stage.dataDir, { alice: { "memory/s.md": ownFile }, bob: { "memory/s.md": secret.repeat(3) } });
});
afterAll(() => stage[Symbol.asyncDispose]());

/** `source` is what the guest reads. `bytes` is how many bytes of it belong to the guest. */
const sources = [
  { name: "its input by the byte", source: "i1", bytes: command("i1", 0, 0).length + 2 },
  { name: "its input by the word", source: "i8", bytes: command("i8", 0, 0).length + 2 },
  { name: "a stored file by the byte", source: "b1", bytes: reply(ownFile).length },
  { name: "a stored file by the word", source: "b8", bytes: reply(ownFile).length },
  { name: "its own block by the byte", source: "o1", bytes: 24 },
  { name: "its own block by the word", source: "o8", bytes: 24 },
];

const reach = 65_536;
const near = Array.from({ length: 32 }, (_, at) => at);
const far = Array.from({ length: reach / 1_024 }, (_, at) => (at + 1) * 1_024);

test.for(sources)("a guest that reads beyond $name finds nothing", async ({ source, bytes }) => {
  const width = Number(source[1]);
  const behind = [...near, ...far].map((distance) => bytes - width + 1 + distance);
  const before = [...near.slice(1), ...far].map((distance) => -distance);
  const found: string[] = [];
  for (const [turn, start] of [...behind, ...before].entries()) {
    if (turn % 16 === 0) await plant();
    const result = await stage.misbehave("Prowl", command(source, start, 1));
    if (result.ok) found.push(String(result.data));
    else expect(result.error.code).toBe("GUEST_TRAPPED");
  }
  expect(found.filter((each) => /[^0]/.test(each))).toEqual([]);
});

test("control: the same guest reads all bytes that belong to it", async () => {
  const input = command("i1", 0, 36);
  const result = await stage.misbehave("Prowl", input);
  expect(textOf(result.ok ? result.data : "")).toBe(JSON.stringify(input).slice(0, 36));
  const stored = await stage.misbehave("Prowl", command("b1", 0, reply(ownFile).length));
  expect(textOf(stored.ok ? stored.data : "")).toBe(reply(ownFile));
});

test("control: with the SDK alone the same guest finds other data in Node's pool", async () => {
  using folder = temporaryFolder();
  const file = writeGuest(folder.path, "prowler", { Prowl: "prowl" }, { Prowl: ["read"] });
  const plugin = await createPlugin(
    { wasm: [{ data: new Uint8Array(readFileSync(file)) }] },
    { useWasi: false, functions: { "extism:host/user": { store_read: storeBuffer } } },
  );
  const poolBytes = Buffer.poolSize;
  const prowl = async (source: string): Promise<string> => {
    const input = atPoolStart(JSON.stringify(command(source, 0, poolBytes)));
    Buffer.from(secret);
    const output = await plugin.call("prowl", input);
    return textOf(output?.json().data);
  };
  expect(await prowl("i1")).toContain(secret);
  expect(await prowl("b1")).toContain(secret);
});

/** A careless host function: it passes a Buffer. */
const storeBuffer = (context: CallContext): bigint => context.store(Buffer.from(reply(ownFile)));

/** Reads Bob's secret in the worker thread that will run Alice's call, and copies it into the pool of this thread. */
async function plant(): Promise<void> {
  const result = await stage.runtime.call("Prowl", command("b1", 0, reply(secret.repeat(3)).length), { userId: "bob" });
  expect(textOf(result.ok ? result.data : "")).toContain(secret);
  for (let count = 0; count < 16; count++) Buffer.from(secret.repeat(count));
}

function command(source: string, start: number, count: number): string {
  return `${source}${hex(start)}${hex(count)}`;
}

function hex(value: number): string {
  return BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, "0");
}

/** The host's reply to a guest that reads a file. */
function reply(content: string): string {
  return JSON.stringify({ ok: true, content });
}

const textOf = (data: unknown): string => Buffer.from(String(data), "hex").toString("latin1");

/** Allocates until the text is at the start of a pool, where a guest that gets a whole pool expects its command. */
function atPoolStart(text: string): Buffer {
  for (;;) {
    const buffer = Buffer.from(text);
    if (buffer.byteOffset === 0) return buffer;
  }
}
