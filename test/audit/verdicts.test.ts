/** The audit's verdict on a file matches what a runtime does with it, whatever was changed and granted. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { judgeCatalog } from "../../host/plugins/catalog.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { proposePolicy } from "../../host/plugins/policy/propose-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import { concatBytes, customSection, writeModule } from "../../shared/wasm-writer.ts";
import { isLong } from "../stage/seed.ts";
import { ToolError } from "../stage/store.ts";
import { loadCatalog } from "../support/load-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { isManifest, sections, shippedManifest } from "./tampered-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Without a pin, because the hash alone would refuse every change. */
const { plugins, ...proposed } = proposePolicy(shippedManifest, "0".repeat(64));
const unpinned = Object.entries(plugins).map(([name, { tools }]) => [name, { tools }]);
const policy = await loadPolicy({ ...proposed, plugins: Object.fromEntries(unpinned) as typeof plugins });

type Change = (parts: typeof sections) => typeof sections;

const place = fc.nat(sections.length - 1);
const changes: fc.Arbitrary<Change> = fc.oneof(
  place.map(
    (at): Change =>
      (parts) =>
        parts.filter((_, index) => index !== at),
  ),
  place.map(
    (at): Change =>
      (parts) =>
        parts.flatMap((each, index) => (index === at ? [each, each] : [each])),
  ),
  fc.tuple(place, place).map(
    ([from, to]): Change =>
      (parts) =>
        parts.filter((_, index) => index !== from).toSpliced(to, 0, ...parts.filter((_, index) => index === from)),
  ),
  fc.tuple(place, fc.uint8Array({ maxLength: 8 })).map(
    ([to, bytes]): Change =>
      (parts) =>
        parts.toSpliced(to, 0, { id: 0, payload: bytes }),
  ),
  fc.tuple(place, fc.noBias(fc.nat()), fc.nat(7)).map(
    ([at, byte, bit]): Change =>
      (parts) =>
        parts.map((each, index) => (index === at ? { ...each, payload: flippedAt(each.payload, byte, bit) } : each)),
  ),
  fc.constantFrom(0, 1, 2, 3, 0x80).map((index): Change => (parts) => [
    ...parts,
    customSection("memcell:fuel", Uint8Array.of(index)),
  ]),
  // The manifest is the same at any position.
  fc.constant<Change>((parts) => [...parts.filter(isManifest), ...parts.filter((each) => !isManifest(each))]),
);

function flippedAt(payload: Uint8Array, byte: number, bit: number): Uint8Array {
  const copy = concatBytes([payload]);
  const at = byte % Math.max(copy.length, 1);
  if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

test("a runtime loads what gets PASS, and refuses or leaves out what gets FAIL", async () => {
  const file = join(folder.path, "changed.wasm");
  const verdicts = { PASS: 0, FAIL: 0 };
  await fc.assert(
    fc.asyncProperty(changes, async (change) => {
      const wasm = writeModule(change(sections));
      const report = makeReport({ artifact: readArtifact(wasm, "changed.wasm"), policy, dependencies: null });
      writeFileSync(file, wasm);
      const isLoaded = await loadCatalog([file], policy).then(
        (catalog) => catalog.plugins.length === 1,
        (error: unknown) => {
          if (error instanceof ToolError && error.code === "PLUGIN_REFUSED") return false;
          throw error;
        },
      );
      expect(isLoaded, report.deviations[0]?.text).toBe(report.verdict === "PASS");
      verdicts[report.verdict]++;
    }),
    { numRuns: isLong ? 1_000 : 200 },
  );
  expect(Math.min(verdicts.PASS, verdicts.FAIL)).toBeGreaterThan(20);
});

const [shippedFile] = Object.values(plugins);
const toolNames = Object.keys(shippedFile?.tools ?? {});

/** A policy that grants some of the rights to some of the tools, or does not name the plugin. */
const lesserPolicies: fc.Arbitrary<PolicyFile> = fc
  .record({
    strict: fc.boolean(),
    isNamed: fc.nat(4).map((one) => one > 0),
    granted: fc.subarray(toolNames),
    taken: fc.dictionary(
      fc.constantFrom(...toolNames),
      fc.subarray(["read", "list", "write", "trash", "clock"] as const),
    ),
    kept: fc.subarray(toolNames),
  })
  .map(({ strict, isNamed, granted, taken, kept }) => {
    const tools = granted.map((tool) => {
      const { rights = [], ...others } = shippedFile?.tools[tool] ?? { scopes: [] };
      const left = rights.filter((right) => !taken[tool]?.some((each) => each === right));
      return [tool, { ...others, rights: left, ...(kept.includes(tool) && { audience: "host" as const }) }];
    });
    const named = { [shippedManifest.name]: { tools: Object.fromEntries(tools) as PluginTools } };
    return { version: 1, strict, plugins: isNamed ? named : {} };
  });

type PluginTools = PolicyFile["plugins"][string]["tools"];

test("an audit says of each tool who can call it in a runtime, whatever the policy takes away", async () => {
  const file = join(folder.path, "whole.wasm");
  writeFileSync(file, writeModule(sections));
  const artifact = readArtifact(writeModule(sections), "whole.wasm");
  const seen = { PASS: 0, FAIL: 0 };
  await fc.assert(
    fc.asyncProperty(lesserPolicies, async (lesser) => {
      const each = await loadPolicy(lesser);
      const report = makeReport({ artifact, policy: each, dependencies: null });
      const told = report.tools.filter(({ callers }) => callers !== "nobody").map(({ name }) => name);
      const offered = report.tools.filter(({ callers }) => callers === "models").map(({ name }) => name);
      const { tools, narrowings } = await judgeCatalog({ named: [file], besides: [], bundled: [] }, each).catch(
        (error: unknown) => {
          if (error instanceof ToolError && error.code === "PLUGIN_REFUSED") return { tools: null, narrowings: [] };
          throw error;
        },
      );
      const all = tools?.all.map(({ tool }) => tool) ?? [];
      expect(told).toEqual(all.map(({ name }) => name));
      expect(offered).toEqual(all.filter(({ audience }) => audience === "model").map(({ name }) => name));
      expect(report.verdict).toBe(all.length > 0 ? "PASS" : "FAIL");
      // Each thing that is taken away is told once: as a narrowing, or among the reasons of a failure.
      if (report.verdict === "PASS") expect(report.narrowings).toHaveLength(narrowings.length);
      else expect(report.deviations.length).toBeGreaterThanOrEqual(Math.max(1, narrowings.length));
      seen[report.verdict]++;
    }),
    { numRuns: 300 },
  );
  expect(Math.min(seen.PASS, seen.FAIL)).toBeGreaterThan(20);
});
