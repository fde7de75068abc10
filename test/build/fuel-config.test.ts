/** A configuration key lets a host lower an instance's fuel, but never raise it, on both SDKs. */
import { readFileSync } from "node:fs";

import { createPlugin } from "@extism/extism";
import { createPlugin as createNextPlugin } from "extism-next";
import { expect, test } from "vitest";

import { capabilityNames, fuelConfigKey } from "../../shared/abi.ts";
import { guestLimits } from "../../shared/limits.ts";
import { testPlugin } from "../support/test-plugin.ts";

const { fuelPollsMax } = guestLimits;
const module = await WebAssembly.compile(readFileSync(testPlugin("puppet")));
const spin = JSON.stringify([{ spin: true }]);
const someTurns = JSON.stringify([{ turns: 1_000_000 }]);

const sdks = {
  "1.0.3": async (config: Record<string, string>) =>
    createPlugin({ wasm: [{ module }] }, { useWasi: false, config, functions: capabilities() }),
  "2.0.0-rc13": async (config: Record<string, string>) =>
    createNextPlugin({ wasm: [{ module }] }, { useWasi: false, config, functions: capabilities() }),
};

function capabilities(): Record<string, Record<string, () => bigint>> {
  return { "extism:host/user": Object.fromEntries(capabilityNames.map((name) => [name, () => 0n])) };
}

/** A million turns are about two hundred polls. */
const rows = [
  { name: "absent", value: undefined, isEnough: true },
  { name: "more than the constant", value: String(fuelPollsMax + 1), isEnough: true },
  { name: "far more than 64 bits hold", value: "9".repeat(40), isEnough: true },
  { name: "enough", value: "1000", isEnough: true },
  { name: "too little", value: "50", isEnough: false },
  { name: "zero", value: "0", isEnough: false },
  { name: "negative", value: "-1000", isEnough: false },
  { name: "an exponent", value: "1e4", isEnough: false },
  { name: "a number with trailing text", value: `${"9".repeat(40)} polls`, isEnough: false },
];

for (const [sdk, open] of Object.entries(sdks)) {
  test.for(rows)(`${sdk}: fuel that is $name is used as expected`, async ({ value, isEnough }) => {
    const plugin = await open(value === undefined ? {} : { [fuelConfigKey]: value });
    const call = async (): Promise<unknown> => (await plugin.call("puppet", someTurns))?.json();
    if (isEnough) expect(await call()).toMatchObject({ ok: true });
    else await expect(call).rejects.toThrow('"code":"FUEL_EXHAUSTED"');
  });

  test(`${sdk}: fuel above the constant counts as the constant`, { timeout: 60_000 }, async () => {
    const plugin = await open({ [fuelConfigKey]: "9".repeat(40) });
    await expect(plugin.call("puppet", spin)).rejects.toThrow('"code":"FUEL_EXHAUSTED"');
  });

  test(`${sdk}: each call starts with full fuel`, async () => {
    const plugin = await open({ [fuelConfigKey]: "300" });
    for (const _ of [1, 2, 3]) {
      // oxlint-disable-next-line no-await-in-loop -- the calls must run one after the other
      expect((await plugin.call("puppet", someTurns))?.json()).toMatchObject({ ok: true });
    }
  });
}
