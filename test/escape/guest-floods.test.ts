/** Guests that exhaust the host: output, blocks, log, calls. The process stays small and serves the next call. */
import { afterAll, expect, test } from "vitest";

import { callLimits } from "../../shared/limits.ts";
import { forgetPeakMemory, peakMemoryMib } from "../support/peak-memory.ts";
import { writeGuest } from "../support/write-guest.ts";
import { openGuestStage } from "./guest-stage.ts";
import type { GuestStage } from "./guest-stage.ts";

const outputs = {
  ClaimLength: "claim_length",
  ClaimNegativeLength: "claim_negative_length",
  OneBlock: "one_block",
  LargestNumber: "largest_number",
  NegativeNumber: "negative_number",
  ManyBlocks: "many_blocks",
  TinyBlocks: "tiny_blocks",
  LargeOutput: "large_output",
  LargeError: "large_error",
  PartOfABlock: "part_of_a_block",
};

const boaster = (folder: string): string[] => [writeGuest(folder, "boaster", outputs)];
const flooder = (folder: string): string[] => [
  writeGuest(folder, "flooder", { FloodLines: "flood_lines", FloodMegabytes: "flood_megabytes" }),
];
const badgerer = (folder: string): string[] => [
  writeGuest(folder, "badgerer", { Badger: "badger" }, { Badger: ["clock"] }),
];

/** Runs one call first, so that the memory for starting is not counted. */
async function openStage(guests: (folder: string) => string[]): Promise<GuestStage> {
  const stage = await openGuestStage(guests);
  await stage.expectHarmless();
  forgetPeakMemory();
  return stage;
}

const boasting = await openStage(boaster);
afterAll(() => boasting[Symbol.asyncDispose]());

test.for([
  { tool: "ClaimLength", codes: ["GUEST_TRAPPED", "OUTPUT_TOO_LARGE"] },
  { tool: "ClaimNegativeLength", codes: ["GUEST_TRAPPED", "OUTPUT_INVALID"] },
  { tool: "OneBlock", codes: ["MEMORY_EXCEEDED"] },
  { tool: "LargestNumber", codes: ["MEMORY_EXCEEDED"] },
  { tool: "NegativeNumber", codes: ["MEMORY_EXCEEDED"] },
  { tool: "ManyBlocks", codes: ["MEMORY_EXCEEDED"] },
  { tool: "TinyBlocks", codes: ["MEMORY_EXCEEDED"] },
  { tool: "LargeOutput", codes: ["OUTPUT_TOO_LARGE"] },
  { tool: "LargeError", codes: ["OUTPUT_INVALID", "OUTPUT_TOO_LARGE"] },
  { tool: "PartOfABlock", codes: ["OUTPUT_TOO_LARGE"] },
])("a guest that answers with $tool is refused", async ({ tool, codes }) => {
  forgetPeakMemory();
  const beforeMib = peakMemoryMib();
  for (let again = 0; again < 5; again++) {
    const result = await boasting.misbehave(tool);
    expect(codes).toContain(result.ok ? "ok" : result.error.code);
    await boasting.expectHarmless();
  }
  expectSmall(tool, beforeMib);
});

test.for([
  { tool: "FloodLines", dropped: 1_000_000 - callLimits.logLinesMax },
  { tool: "FloodMegabytes", dropped: 300 - callLimits.logLinesMax },
])("the log of a guest that does $tool is kept only up to its bound", async ({ tool, dropped }) => {
  await using stage = await openStage(flooder);
  const beforeMib = peakMemoryMib();
  await stage.misbehave(tool);
  const kept = stage.log.filter(({ userId }) => userId === "alice");
  expect(kept.filter(({ text }) => text.startsWith("xxxx"))).toHaveLength(callLimits.logLinesMax);
  expect(kept.filter(({ text }) => text.includes("further lines"))).toMatchObject([
    { text: `${dropped} further lines not shown` },
  ]);
  expect(kept.filter(({ text }) => text.length > callLimits.logLineCharsMax)).toEqual([]);
  await stage.expectHarmless();
  expectSmall(tool, beforeMib);
});

test("a guest that calls a capability a million times is CAPABILITY_DENIED", async () => {
  await using stage = await openStage(badgerer);
  const beforeMib = peakMemoryMib();
  const result = await stage.misbehave("Badger");
  expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
  await stage.expectHarmless();
  expectSmall("Badger", beforeMib);
});

function expectSmall(tool: string, beforeMib: number): void {
  const grownMib = peakMemoryMib() - beforeMib;
  console.log(`${tool}: the process had ${beforeMib} MiB before, and ${grownMib} MiB more at most`);
  expect(grownMib).toBeLessThan(400);
}
