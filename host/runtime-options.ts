import type { RuntimeOptions } from "./api.ts";

/** How long a call waits for its turn. */
const defaultWaitMs = 30_000;

/** A longer timer fires at once. */
const timerMsMax = 2 ** 31 - 1;

type CheckedOptions = Required<Omit<RuntimeOptions, "plugins" | "threadsMax">> &
  Pick<RuntimeOptions, "plugins" | "threadsMax">;

/** The options with their defaults. Throws for those that make no sense: a mistake of the program, not of a call. */
export function checkOptions(options: RuntimeOptions): CheckedOptions {
  const { dataDir, plugins, threadsMax, clock = Date.now, onLog = () => {} } = options;
  const { durability = "full", waitMs = defaultWaitMs, instances = "restored" } = options;
  if (typeof dataDir !== "string" || dataDir === "") throw new TypeError("createRuntime needs a dataDir");
  if (plugins !== undefined && !Array.isArray(plugins)) throw new TypeError("plugins is not an array of files");
  if (typeof clock !== "function") throw new TypeError("clock is not a function");
  if (typeof onLog !== "function") throw new TypeError("onLog is not a function");
  if (threadsMax !== undefined && !isPositive(threadsMax)) {
    throw new RangeError(`threadsMax is ${threadsMax}, allowed: a whole number from 1`);
  }
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  if (!isPositive(waitMs) || waitMs > timerMsMax) {
    throw new RangeError(`waitMs is ${waitMs}, allowed: a whole number from 1 to ${timerMsMax}`);
  }
  if (instances !== "restored" && instances !== "fresh") {
    throw new RangeError(`instances is ${String(instances)}, allowed: "restored", "fresh"`);
  }
  const given = { ...(plugins && { plugins }), ...(threadsMax !== undefined && { threadsMax }) };
  return { dataDir, clock, onLog, durability, waitMs, instances, ...given };
}

const isPositive = (number: number): boolean => Number.isInteger(number) && number > 0;
