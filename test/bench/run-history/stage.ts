/** The runs that are measured, ours and the naive ones, with the same events. */
import { join } from "node:path";

import { createRuntime } from "memcell";

import { readUserFiles, writeUserFiles } from "../../support/user-files.ts";
import { eventsFrom } from "./event.ts";
import { NaiveRuns } from "./naive-runs.ts";
import { OurRuns } from "./our-runs.ts";

export interface Sizes {
  /** Events of the long run, and of the one that is loaded as a whole. */
  readonly long: number;
  readonly whole: number;
  /** Events of the long run that a reader does not have yet. */
  readonly fresh: number;
}

export interface Stage extends AsyncDisposable {
  /** Users of their own. `reader` has the runs that nobody appends to. */
  readonly small: OurRuns;
  readonly large: OurRuns;
  readonly reader: OurRuns;
  readonly naive: NaiveRuns;
  /** Where the fresh events of the reader's long run begin and end. `bytes` is for the naive one. */
  readonly since: { readonly cursor: string; readonly end: string; readonly bytes: number };
}

/** Of the user `large`, and of `reader`. Nobody appends to the second one. */
export const longRun = "long";
export const wholeRun = "whole";

export async function openStage(folder: string, sizes: Sizes): Promise<Stage> {
  const dataDir = join(folder, "memcell");
  const cursors = await fillRuns(dataDir, sizes);
  writeUserFiles(dataDir, { reader: readUserFiles(dataDir, "large") });
  const runtime = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1 });
  const naive = new NaiveRuns(join(folder, "naive"));
  naive.append("appended", eventsFrom(0, sizes.long));
  naive.append(longRun, eventsFrom(0, sizes.long - sizes.fresh));
  const bytes = naive.bytesOf(longRun);
  naive.append(longRun, eventsFrom(sizes.long - sizes.fresh, sizes.fresh));
  naive.append(wholeRun, eventsFrom(0, sizes.whole));
  const of = (userId: string): OurRuns => new OurRuns(runtime, userId);
  return {
    small: of("small"),
    large: of("large"),
    reader: of("reader"),
    naive,
    since: { ...cursors, bytes },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

/** Returns the cursors before and after the fresh events. */
async function fillRuns(dataDir: string, { long, whole, fresh }: Sizes): Promise<{ cursor: string; end: string }> {
  await using runtime = await createRuntime({
    dataDir,
    plugins: ["run-history"],
    threadsMax: 1,
    durability: "relaxed",
  });
  const large = new OurRuns(runtime, "large");
  await large.fill(longRun, 0, long - fresh);
  const { cursor } = await large.load(longRun);
  await large.fill(longRun, long - fresh, fresh);
  const { cursor: end } = await large.load(longRun, cursor);
  await new OurRuns(runtime, "reader").fill(wholeRun, 0, whole);
  return { cursor, end };
}
