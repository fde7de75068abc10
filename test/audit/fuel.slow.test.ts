/** A plugin names the global that counts its fuel, and a call's record says how much fuel the call used. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { fuelSection, readFuelGlobal } from "../../shared/fuel-section.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { readGlobals } from "../../shared/wasm-state.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { openAuditedStage } from "./audited-stage.ts";

test("the shipped plugin names a mutable i32 global, and exports none", async () => {
  const wasm = readFileSync(shippedPlugin("user-memory"));
  const index = readFuelGlobal(readSections(wasm));
  expect(readGlobals(readSections(wasm))[index ?? -1]).toEqual({ type: 0x7f, isMutable: true });
  const exported = WebAssembly.Module.exports(await WebAssembly.compile(wasm));
  expect(exported.filter(({ kind }) => kind === "global")).toEqual([]);
});

test("a call's fuel is what its guest counted", async () => {
  await using stage = await openAuditedStage({ fuelPolls: 1_000 });
  const { runtime } = stage;
  const polls = async (steps: readonly unknown[], callId: string): Promise<number | null | undefined> => {
    await runtime.call("Puppet", steps, { userId: "alice", callId });
    return stage.recordsOf("call", callId)[0]?.fuelPolls;
  };
  const few = (await polls([{ turns: 100_000 }], "few")) ?? 0;
  const many = (await polls([{ turns: 2_000_000 }], "many")) ?? 0;
  expect(few).toBeGreaterThan(0);
  expect(many / few).toBeGreaterThan(10);
  expect(await polls([], "none")).toBeLessThan(few);
  expect(await polls([{ spin: true }], "all")).toBe(1_000);
  expect(await polls([{ turns: 100_000 }, { fail: "x" }], "failed")).toBeGreaterThan(0);
  expect(await polls([{ recurse: true }], "trapped")).not.toBeNull();
});

const guest = `(module (memory (export "memory") 1 4)
  (global $constant i32 (i32.const 1)) (global $wide (mut i64) (i64.const 1)) (global $fuel (mut i32) (i32.const 0))
  (func (export "run") (result i32)
    (global.set $fuel (i32.const FUEL)) (global.set $wide (i64.const 0))
    (i32.const 1)))`;
const guestFile = (fuel: number, sections: readonly Uint8Array[]): Uint8Array => {
  const manifest = guestManifest("counting", { Count: "run" });
  const wasm = assembleGuest(guest.replace("FUEL", `${fuel}`), [JSON.stringify(manifest)]);
  return writeModule([...readSections(wasm), ...sections.map((content) => customSection(fuelSection, content))]);
};

test.for([
  { name: "absent", sections: [], reason: null },
  { name: "right", sections: [Uint8Array.of(2)], reason: null },
  { name: "empty", sections: [new Uint8Array()], reason: "it ends too early" },
  { name: "present twice", sections: [Uint8Array.of(2), Uint8Array.of(2)], reason: "is there more than once" },
  { name: "longer than a number", sections: [Uint8Array.of(2, 0)], reason: "holds more than a number" },
  { name: "a number without end", sections: [new Uint8Array(9).fill(0x80)], reason: "more than five bytes" },
  { name: "for a constant", sections: [Uint8Array.of(0)], reason: "names no mutable i32 global" },
  { name: "for a 64-bit global", sections: [Uint8Array.of(1)], reason: "names no mutable i32 global" },
  { name: "for a missing global", sections: [Uint8Array.of(3)], reason: "names no mutable i32 global" },
])("reads or refuses a fuel section that is $name", async ({ sections, reason }) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "counting.wasm");
  writeFileSync(file, guestFile(1, sections));
  const options = { dataDir: join(folder.path, "data"), plugins: [file], policy: policyFor([file]) };
  const opening = createRuntime(options).then((runtime) => runtime.close());
  if (reason === null) await opening;
  else
    await expect(opening).rejects.toMatchObject({ code: "PLUGIN_REFUSED", message: expect.stringContaining(reason) });
});

test.for([
  { name: "used some fuel", fuel: 19_990, polls: 10 },
  { name: "reports more fuel than it was given", fuel: 2_000_000, polls: 0 },
  { name: "reports negative fuel", fuel: -5, polls: 20_000 },
])("clamps the fuel reported by a guest that $name", async ({ fuel, polls }) => {
  using folder = temporaryFolder();
  const [counting, silent] = [join(folder.path, "counting.wasm"), join(folder.path, "silent.wasm")];
  writeFileSync(counting, guestFile(fuel, [Uint8Array.of(2)]));
  writeFileSync(silent, guestFile(fuel, []));
  for (const [file, expected] of [
    [counting, polls],
    [silent, null],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- each has a runtime of its own
    await using stage = await openAuditedStage({ plugins: [file], policy: policyFor([file]) });
    await stage.runtime.call("Count", {}, { userId: "alice" });
    expect(stage.recordsOf("call")).toMatchObject([{ fuelPolls: expected }]);
  }
});
