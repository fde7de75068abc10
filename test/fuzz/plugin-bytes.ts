/** Plugin files with some changed bytes: each is either accepted or refused with a reason. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { readInterface } from "../../shared/wasm-signatures.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { asToolError } from "../stage/store.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { loadCatalog } from "../support/load-catalog.ts";
import { policyFor } from "../support/policy-for.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { guestText } from "../support/write-guest.ts";

const forger = (manifests: readonly string[]): Uint8Array => assembleGuest(guestText("forger"), manifests);
const manifest = guestManifest("forger", { Forge: "forge" }, ["read", "list", "write", "trash", "clock"]);

const sealed = (): Uint8Array => forger([JSON.stringify(manifest)]);

/** The part of the sequence of random files that a tier tries. */
interface Rounds {
  readonly from: number;
  readonly to: number;
}

const seed = 2000;

/** Declares the tests of a part of the files. */
export function testPluginBytes(rounds: Rounds): void {
  test.for([
    { name: "changed bytes", files: changedFiles },
    { name: "changed sections", files: rearrangedFiles },
  ])("a file with $name is accepted or PLUGIN_REFUSED, and the audit predicts which", ({ files }) =>
    expectAcceptedOrRefused(files(rounds)),
  );

  test("the host reads every module like the engine, or refuses it", () => expectReadAlike(rounds));
}

/** Plugin files with one to four changed bytes each. */
const changedFiles = (rounds: Rounds): Generator<Uint8Array> => changed(sealed(), rounds);

/** Plugin files with changed sections. */
const rearrangedFiles = (rounds: Rounds): Generator<Uint8Array> => rearranged(sealed(), rounds);

async function expectAcceptedOrRefused(files: Generator<Uint8Array>): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "changed.wasm");
  const outcomes = { accepted: 0, refused: 0 };
  for (const wasm of files) {
    writeFileSync(file, wasm);
    // Every other policy lowers the memory, so that the host rewrites that section of the module.
    const limits = (outcomes.accepted + outcomes.refused) % 2 === 0 ? {} : { memoryPages: 3 };
    const policy = await loadPolicy(policyFor([file], limits));
    const audited = makeReport({ artifact: readArtifact(wasm, "changed.wasm"), policy, dependencies: null });
    const error = await loadCatalog([file], policy).then(
      () => null,
      (thrown: unknown) => asToolError(thrown, "load"),
    );
    expect([null, "PLUGIN_REFUSED"]).toContain(error && error.code);
    expect({ verdict: audited.verdict, error: error?.message }).toMatchObject({ verdict: error ? "FAIL" : "PASS" });
    if (error) expect(audited.deviations.map(({ text }) => text).join("\n")).toContain(clauseOf(error.message));
    outcomes[error ? "refused" : "accepted"]++;
  }
  const rounds = outcomes.accepted + outcomes.refused;
  expect(outcomes.refused).toBeGreaterThan(rounds / 4);
  expect(outcomes.accepted).toBeGreaterThan(rounds / 100);
}

/** Fails unless the host reads changed files like the engine, or refuses them. */
async function expectReadAlike(rounds: Rounds): Promise<void> {
  const bare = writeModule(readSections(forger([])));
  let compared = 0;
  for (const wasm of changed(bare, rounds)) {
    const module = await WebAssembly.compile(wasm).catch(() => null);
    const read = interfaceOf(wasm);
    if (!module || !read) continue;
    const imports = WebAssembly.Module.imports(module);
    // The host reads only up to the first import that is not a function.
    const last = imports.findIndex(({ kind }) => kind !== "function");
    expect(read.imports).toEqual((last < 0 ? imports : imports.slice(0, last + 1)).map(asBytes));
    expect(read.exports).toEqual(WebAssembly.Module.exports(module).map(asBytes));
    compared++;
  }
  expect(compared).toBeGreaterThan((rounds.to - rounds.from) / 100);
}

/** The reason for a refusal, without its first letter, which a report capitalises. */
function clauseOf(message: string): string {
  return message.replace(/^Cannot load plugin "changed.wasm": ./, "");
}

/** Yields files with one section removed, doubled, moved, longer, shorter or changed. */
function* rearranged(whole: Uint8Array, { from, to }: Rounds): Generator<Uint8Array> {
  const random = seededRandom(seed + 1);
  const sections = readSections(whole);
  const anyOf = (count: number): number => Math.floor(random() * count);
  for (let round = 0; round < to; round++) {
    const list = [...sections];
    const at = anyOf(list.length);
    const { id, payload } = list[at] ?? { id: 0, payload: whole };
    const trailed = Uint8Array.from([...payload, ...Array.from({ length: 1 + anyOf(18) }, () => anyOf(32))]);
    const counted = Uint8Array.from(payload);
    counted[0] = (counted[0] ?? 0) + anyOf(3) - 1;
    const ways: (() => unknown)[] = [
      () => list.splice(at, 1),
      () => list.splice(anyOf(list.length), 0, { id, payload }),
      () => list.splice(at, 1, { id, payload: trailed }),
      () => list.splice(at, 1, { id, payload: payload.subarray(0, anyOf(payload.length)) }),
      () => list.splice(at, 1, { id, payload: counted }),
      () => list.splice(anyOf(list.length), 0, customSection("note", trailed)),
    ];
    ways[anyOf(ways.length)]?.();
    if (round >= from) yield writeModule(list);
  }
}

/** Yields the file with one to four changed bytes each time. */
function* changed(whole: Uint8Array, { from, to }: Rounds): Generator<Uint8Array> {
  const random = seededRandom(seed);
  for (let round = 0; round < to; round++) {
    const wasm = Uint8Array.from(whole);
    for (let left = 1 + Math.floor(random() * 4); left > 0; left--) {
      wasm[Math.floor(random() * wasm.length)] = random() * 256;
    }
    if (round >= from) yield wasm;
  }
}

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

/** Converts names to bytes, as the host compares them. */
function asBytes(each: Named): Named {
  return { ...each, ...(each.module !== undefined && { module: bytes(each.module) }), name: bytes(each.name) };
}

const bytes = (text: string): string => Buffer.from(text).toString("latin1");
