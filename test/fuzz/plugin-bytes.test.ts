/** Plugin files with some changed bytes or sections: each is accepted or refused with a reason, and the audit predicts which. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import { readSections } from "../../shared/wasm-sections.ts";
import { readInterface } from "../../shared/wasm-signatures.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { memcell } from "../stage/command.ts";
import { runs } from "../stage/random-runs.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { guestText } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const forger = (manifests: readonly string[]): Uint8Array => assembleGuest(guestText("forger"), manifests);
const manifest = guestManifest("forger", { Forge: "forge" }, ["read", "list", "write", "trash", "clock"]);
const sealed = forger([JSON.stringify(manifest)]);

/** The file with one to four changed bytes. */
const changed = (whole: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((bytes) => Uint8Array.from(whole, (byte, at) => bytes.find(([place]) => place === at)?.[1] ?? byte));

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

test.for([
  { name: "changed bytes", files: changed(sealed) },
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
      const failure = await createRuntime({ store: memoryStore(), plugins: [file], policy, threadsMax: 1 }).then(
        (runtime) => runtime.close(),
        (error: Error & { code: string }) => error,
      );
      outcomes[failure ? "refused" : "accepted"]++;
      expect({ said: failure?.message, verdict: report.verdict }).toMatchObject({ verdict: failure ? "FAIL" : "PASS" });
      if (!failure) return;
      expect(failure.code).toBe("PLUGIN_REFUSED");
      // A report capitalises the reason's first letter.
      const clause = failure.message.replace(/^Cannot load plugin "changed.wasm": ./, "");
      expect(report.deviations.map(({ text }) => text).join("\n")).toContain(clause);
    }),
    runs(60),
  );
  expect(outcomes.refused).toBeGreaterThan(10);
});

interface Named {
  readonly module?: string;
  readonly name: string;
  readonly kind: string;
}

function interfaceOf(wasm: Uint8Array): { imports: Named[]; exports: Named[] } | null {
  try {
    const { imports, exports } = readInterface(readSections(wasm));
    return {
      imports: imports.map(({ module, name, kind }) => ({ module, name, kind })),
      exports: exports.map(({ name, kind }) => ({ name, kind })),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const bytes = (text: string): string => Buffer.from(text).toString("latin1");
/** Converts names to bytes, as the host compares them. */
const asBytes = (each: Named): Named => ({
  ...each,
  ...(each.module !== undefined && { module: bytes(each.module) }),
  name: bytes(each.name),
});

test("the host reads every module like the engine, or refuses it", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(changed(writeModule(readSections(forger([])))), async (wasm) => {
      const module = await WebAssembly.compile(wasm).catch(() => null);
      const read = interfaceOf(wasm);
      if (!module || !read) return;
      const imports = WebAssembly.Module.imports(module);
      // The host reads only up to the first import that is not a function.
      const last = imports.findIndex(({ kind }) => kind !== "function");
      expect(read.imports).toEqual((last < 0 ? imports : imports.slice(0, last + 1)).map(asBytes));
      expect(read.exports).toEqual(WebAssembly.Module.exports(module).map(asBytes));
      compared++;
    }),
    runs(500),
  );
  expect(compared).toBeGreaterThan(10);
});
