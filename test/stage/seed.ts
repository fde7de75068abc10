/**
 * Which part of a long list a run takes. The seed comes from `TEST_SEED`, by default from the number of commits, so that
 * consecutive commits take different parts and twenty of them have taken all. `TEST_LONG=1` takes everything.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const isLong = process.env["TEST_LONG"] === "1";

/** The run's seed. It is printed first. */
export const seed = Number(process.env["TEST_SEED"] ?? commitsCount());

if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError("TEST_SEED is no whole number");

/**
 * One item of `n`, in their order, others with each seed. Items are dealt out as they stand, so that those which stand
 * together fall into different parts.
 *
 * @example
 * test.for(oneIn(6, vectors))("$name", …); // vectors 0, 6, 12 … or 1, 7, 13 …
 */
export function oneIn<Item>(n: number, items: readonly Item[]): Item[] {
  return items.filter((_, at) => isLong || partOf(at, n) === 0);
}

/** `parts` of `n` parts, none of which is that of `oneIn(n, …)`: for a slow suite beside a fast one. */
export function othersIn<Item>(n: number, parts: number, items: readonly Item[]): Item[] {
  return items.filter((_, at) => isLong || (partOf(at, n) >= 1 && partOf(at, n) <= parts));
}

const partOf = (at: number, n: number): number => (((at - seed) % n) + n) % n;

function commitsCount(): number {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  try {
    return Number(execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd: root, encoding: "utf8", stdio: "pipe" }));
  } catch {
    // A copy of the sources without their history.
    return 0;
  }
}
