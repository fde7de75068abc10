/**
 * Plugin files with some changed bytes or sections: each is accepted or refused with a reason, and the audit predicts
 * which. What is accepted has in the engine what its manifest declares, and nothing else.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import {
  capabilityModule,
  capabilityNames,
  capabilityRights,
  kernelModule,
  kernelSignatures,
} from "../../shared/abi.ts";
import { manifestSection } from "../../shared/manifest.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { memcell } from "../stage/command.ts";
import { runs } from "../stage/random-runs.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { guestText } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const manifest = guestManifest("forger", { Forge: "forge" }, ["read", "list", "write", "trash", "clock"]);
const sealed = assembleGuest(guestText("forger"), [JSON.stringify(manifest)]);

/** The file with one to four changed bytes. */
const changed = fc
  .array(fc.tuple(fc.nat(sealed.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(sealed, (byte, at) => bytes.find(([place]) => place === at)?.[1] ?? byte));

/** The file with one section removed, doubled, moved, longer, shorter or changed. */
const rearranged = fc
  .record({ at: fc.nat(), to: fc.nat(), way: fc.nat(5), more: fc.uint8Array({ minLength: 1, maxLength: 18, max: 31 }) })
  .map(({ at, to, way, more }) => {
    const list = readSections(sealed);
    const place = at % list.length;
    const { id, payload } = list[place] ?? { id: 0, payload: sealed };
    const trailed = Uint8Array.from([...payload, ...more]);
    const counted = Uint8Array.from(payload, (byte, index) => (index === 0 ? byte + (to % 3) - 1 : byte));
    const other = [trailed, payload.subarray(0, to % payload.length), counted][way - 2];
    if (way === 0) list.splice(place, 1);
    else if (way === 1) list.splice(to % list.length, 0, { id, payload });
    else if (other) list.splice(place, 1, { id, payload: other });
    else list.splice(to % list.length, 0, customSection("note", trailed));
    return writeModule(list);
  });

interface Report {
  readonly verdict: string;
  readonly deviations: readonly { readonly text: string }[];
}

/** What the audit says, or of what is no module at all, its message. */
async function audited(file: string, policy: object): Promise<Report> {
  const policyFile = join(folder.path, "policy.json");
  writeFileSync(policyFile, JSON.stringify(policy));
  const { stdout, stderr } = await memcell(["audit", file, "--policy", policyFile, "--json"]);
  if (stdout === "") return { verdict: "FAIL", deviations: [{ text: stderr }] };
  return (JSON.parse(stdout) as { reports: [Report] }).reports[0];
}

const failureOf = (file: string, policy = policyFor([file])): Promise<void | (Error & { code: string })> =>
  createRuntime({ store: memoryStore(), plugins: [file], policy, threadsMax: 1 }).then(
    (runtime) => runtime.close(),
    (error: Error & { code: string }) => error,
  );

test.for([
  { name: "changed bytes", files: changed },
  { name: "changed sections", files: rearranged },
])("a file with $name is accepted or PLUGIN_REFUSED, and the audit predicts which", async ({ files }) => {
  const outcomes = { accepted: 0, refused: 0 };
  await fc.assert(
    // With fewer pages than the plugin has, the host rewrites that section of the module.
    fc.asyncProperty(files, fc.constantFrom({}, { memoryPages: 3 }), async (wasm, limits) => {
      const file = join(folder.path, "changed.wasm");
      writeFileSync(file, wasm);
      const policy = policyFor([file], limits);
      const report = await audited(file, policy);
      const failure = await failureOf(file, policy);
      outcomes[failure ? "refused" : "accepted"]++;
      expect({ said: failure?.message, verdict: report.verdict }).toMatchObject({ verdict: failure ? "FAIL" : "PASS" });
      if (!failure) return expectDeclared(await WebAssembly.compile(wasm));
      expect(failure.code).toBe("PLUGIN_REFUSED");
      // A report capitalises the reason's first letter.
      const clause = failure.message.replace(/^Cannot load plugin "changed.wasm": ./, "");
      expect(report.deviations.map(({ text }) => text).join("\n")).toContain(clause);
    }),
    runs(60),
  );
  expect(outcomes.refused).toBeGreaterThan(10);
});

test("a plugin that is cut off anywhere is refused; control: whole, it is accepted", async () => {
  const shipped = readSections(readFileSync(shippedPlugin("user-memory")));
  // The manifest comes first, so that another part is lost. Without other custom sections, each part is needed.
  const manifests = shipped.filter(
    ({ id, payload }) => id === sectionIds.custom && Buffer.from(payload).includes(manifestSection),
  );
  const whole = writeModule([...manifests, ...shipped.filter(({ id }) => id !== sectionIds.custom)]);
  const file = join(folder.path, "cut.wasm");
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), async (bytes) => {
      writeFileSync(file, whole.subarray(0, bytes));
      expect(await failureOf(file)).toMatchObject({ code: "PLUGIN_REFUSED" });
    }),
    runs(60),
  );
  writeFileSync(file, whole);
  expect(await failureOf(file)).toBeUndefined();
});

const isFunction = ({ kind }: { readonly kind: string }): boolean => kind === "function";

/** What the manifest declares is what the engine finds: the host has read the file as the engine does. */
function expectDeclared(module: WebAssembly.Module): void {
  const manifests = WebAssembly.Module.customSections(module, manifestSection);
  expect(manifests).toHaveLength(1);
  const { tools } = JSON.parse(new TextDecoder().decode(manifests[0])) as Manifest;
  const granted = new Set(tools.flatMap(({ rights }) => rights));
  const imported = WebAssembly.Module.imports(module);
  expect(imported.filter(isFunction)).toEqual(imported);
  const capabilities = imported.filter(({ module: from }) => from === capabilityModule);
  const allowed = capabilityNames.filter((name) => granted.has(capabilityRights[name]));
  expect(capabilities.map(({ name }) => name).toSorted()).toEqual(allowed.toSorted());
  const kernel = imported.filter((each) => !capabilities.includes(each));
  for (const { module: from, name } of kernel)
    expect([from, Object.keys(kernelSignatures)]).toEqual([kernelModule, expect.arrayContaining([name])]);
  const exported = WebAssembly.Module.exports(module).filter(isFunction);
  expect(new Set(exported.map(({ name }) => name))).toEqual(new Set(tools.map((tool) => tool.export)));
}
