/** A limit that is zero, missing or invalid never means "no limit". */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

const names = [
  "threadsMax",
  "waitMs",
  "deadlineMs",
  "fuelPolls",
  "queuedCallsMax",
  "queuedCallsPerUserMax",
  "closeGraceMs",
] as const;
const wrong = [0, -1, 1.5, NaN, Infinity, null, "5", true, {}];

test.for(names.flatMap((name) => wrong.map((value) => ({ name, value }))))(
  "$name: $value is a RangeError that names the option",
  async ({ name, value }) => {
    const creating = createRuntime({ dataDir: "unused", [name]: value });
    await expect(creating).rejects.toThrow(RangeError);
    await expect(creating).rejects.toThrow(name);
  },
);

test.for(["waitMs", "deadlineMs", "closeGraceMs"] as const)("$0 cannot be longer than a timer allows", async (name) => {
  await expect(createRuntime({ dataDir: "unused", [name]: 2 ** 31 })).rejects.toThrow(RangeError);
});
