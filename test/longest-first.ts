import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/**
 * The suites that take longest, in the order in which they begin. Without times of an earlier run, as after `npm ci`, a
 * file's size decides, and these are short: at the end of a run, one worker would wait minutes for the other.
 */
const longest = [
  // Fast.
  "test/conformance/conformance.test.ts",
  "test/trust/attacks.test.ts",
  "test/serve/attacks/attacks.test.ts",
  "test/crash/kill/kill-sweep.test.ts",
  "test/crash/fault/fault-sweep.test.ts",
  "test/crash/model/model.test.ts",
  // Slow.
  "test/polyglot/vectors.test.ts",
  "test/mcp/vectors.test.ts",
  "test/fuzz/more-runs.slow.test.ts",
  "test/owner/large.slow.test.ts",
  "test/polyglot/go-tests.test.ts",
  "test/crash/model/model.slow.test.ts",
  "test/crash/fault/fault-sweep.slow.test.ts",
  "test/build/new-family.slow.test.ts",
  "test/crash/kill/kill-sweep.slow.test.ts",
  "test/build/verify-build.slow.test.ts",
  "test/build/reproducible.slow.test.ts",
  "test/crash/model/finds-bugs.slow.test.ts",
];

/** The order of projects stays, and that of all suites that are not in the list. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array's
    const sorted = await super.sort(specifications);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const places = longest.map((path) => `/${path}`);
    const place = ({ moduleId }: TestSpecification): number => {
      const found = places.findIndex((path) => moduleId.endsWith(path));
      return found === -1 ? places.length : found;
    };
    return sorted.toSorted(
      (a, b) => projects.indexOf(a.project.name) - projects.indexOf(b.project.name) || place(a) - place(b),
    );
  }
}
