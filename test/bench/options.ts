import { parseArgs } from "node:util";

import { sections } from "./sections.ts";

export interface BenchOptions {
  readonly only: readonly number[];
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly write: boolean;
}

export function parseBenchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const known = [...sections.keys()];
  const only = values.only === undefined ? known : values.only.split(",").map(Number);
  const unknown = only.find((number) => !known.includes(number));
  if (unknown !== undefined) throw new RangeError(`--only names section ${unknown}, allowed: ${known.join(", ")}`);
  if (values.write && only.length < known.length) throw new RangeError("--write needs all sections, not --only some");
  const rounds = values.rounds === undefined ? (values.quick ? 3 : 10) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError("--rounds is not a whole number from 1");
  return { only, rounds, isQuick: values.quick, write: values.write };
}
