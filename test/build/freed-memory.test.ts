/** A snapshot contains the data that the plugin keeps, and nothing that it created and dropped while loading. */
import { expect, test } from "vitest";

import { toolGlobal } from "../../build/bundle.ts";
import { snapshotPlugin } from "../../build/snapshot.ts";
import type { Family } from "../../shared/manifest.ts";
import * as z from "../../shared/zod.ts";

const tool = {
  name: "Probe",
  export: "probe",
  audience: "model",
  description: "",
  input: z.unknown(),
  output: z.unknown(),
} as const;
const family: Family = { name: "probe", version: "0.0.0", tools: [{ ...tool, scopes: [], rights: [] }] };

/** Leaves texts of many sizes in memory. They are built at run time, so that the bytecode does not contain them. */
const makeTexts = `
  const reversed = "droffih";
  const word = reversed.split("").toReversed().join("");
  const texts = Array.from({ length: 4000 }, (_, at) => word + "-" + String(at) + ".".repeat(at % 700 === 0 ? at * 40 : at % 97));
  const bytes = Uint8Array.from({ length: 3000 }, (_, at) => word.charCodeAt(at % 7));
  const nodes = texts.map((text) => ({ [text.slice(0, 12)]: text }));
  nodes.forEach((node) => { node.self = node; node.all = nodes; });`;

async function snapshot(last: string): Promise<string> {
  const script = `globalThis.${toolGlobal("probe")} = () => 0; (() => {${makeTexts}${last}})();`;
  const { memory } = await snapshotPlugin({ script, deferred: [] }, family);
  return Buffer.from(memory).toString("latin1");
}

test("data that a plugin drops while loading is not in its snapshot", async () => {
  expect(await snapshot("")).not.toContain("hifford");
});

test("control: data that it keeps is in its snapshot", async () => {
  expect(await snapshot("globalThis.kept = nodes;")).toContain("hifford-3999");
});
