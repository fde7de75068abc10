/**
 * The vectors for plugins of ABI version 1 on the hosts of five languages, with the same plugin files: on each host a sixth
 * of them, others with each seed. `TEST_LONG=1` replays all on all. Four hosts refuse version 2.
 */
import { afterAll, describe, expect, inject, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { portableVectors } from "./portable-vectors.ts";
import { programOf } from "./program-of.ts";
import { VectorReplay } from "./replay-vectors.ts";

describe.for(inject("hosts"))("$language", (host) => {
  const vectors = oneIn(6, portableVectors);
  const folders = temporaryFolder();
  let replay: VectorReplay | null = null;

  afterAll(async () => {
    await replay?.[Symbol.asyncDispose]();
    folders[Symbol.dispose]();
  });

  test.for(vectors)("$name", async ({ vector }, context) => {
    replay ??= new VectorReplay(programOf(host, context), folders.path);
    expect(await replay.run(vector)).toEqual([]);
  });
});
