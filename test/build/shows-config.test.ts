/** A host that does not know the field `shows` beside an answer never gets it. */
import { readFileSync } from "node:fs";

import { createPlugin } from "@extism/extism";
import type { CallContext } from "@extism/extism";
import { expect, test } from "vitest";

import { showsConfigKey } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

/** A capability that answers what `of` says of the path that it is asked for. */
const reply =
  (of: (path: string) => object) =>
  (context: CallContext, request: bigint): bigint => {
    const { path = "" } = JSON.parse(context.read(request)?.text() ?? "") as { readonly path?: string };
    return context.store(JSON.stringify({ ok: true, ...of(path) }));
  };

/** Answers the export `list_entries` of `user-memory` for a user with these entries. */
async function listed(descriptions: Readonly<Record<string, string>>, config: Record<string, string>): Promise<string> {
  const files = Object.entries(descriptions).map(
    ([name, description]) =>
      [`${name}.md`, `---\nname: ${name}\ndescription: ${description}\ntype: user\n---\nx`] as const,
  );
  const texts = new Map<string, string>(files);
  const entries = files.map(([path, text]) => ({ path, bytes: Buffer.byteLength(text) }));
  const read = reply((path) => ({ content: texts.get(path) ?? null }));
  const none = reply(() => ({}));
  const capabilities = { store_read: read, store_list: reply(() => ({ entries })), store_write: none };
  const functions = { "extism:host/user": { ...capabilities, store_trash: none, clock_now: none } };
  const plugin = await createPlugin(
    { wasm: [{ data: readFileSync(shippedPlugin("user-memory")) }] },
    { useWasi: false, config, functions },
  );
  return (await plugin.call("list_entries", "{}"))?.text() ?? "";
}

const asked = { [showsConfigKey]: "1" };
const answer = '{"ok":true,"message":"1 entries","data":{"entries":[{"name":"editor","description":"x"}]}';

test("the field is there only if the host has asked for it", async () => {
  expect(await listed({ editor: "x" }, {})).toBe(`${answer}}`);
  expect(await listed({ editor: "x" }, asked)).toBe(`${answer},"shows":["memory:editor.md"]}`);
});

test("an answer is without it if it is over 64 KiB", async () => {
  const description = "é".repeat(180);
  const many = Array.from({ length: 1_000 }, (_, at) => [`entry-${at}-`.padEnd(100, "x"), description]);
  const whole = await listed(Object.fromEntries(many) as Record<string, string>, asked);
  const names = JSON.stringify(many.map(([name]) => `memory:${name}.md`));
  expect(JSON.parse(whole)).toMatchObject({ message: "1000 entries" });
  expect(whole).not.toContain('"shows"');
  expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(callLimits.outputBytesMax);
  expect(names.length).toBeGreaterThan(callLimits.showsBytesMax);
});
