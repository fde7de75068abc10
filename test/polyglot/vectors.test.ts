/**
 * The vectors for plugins of ABI version 1 on the hosts of five languages, with the same plugin files: on each host a sixth
 * of them, others with each seed. `TEST_LONG=1` replays all on all. Four hosts refuse version 2. Prints a table with a row for each host.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, inject, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { hostTable } from "./host-table.ts";
import type { HostRow } from "./host-table.ts";
import { otherVectors, portableVectors } from "./portable-vectors.ts";
import { programOf } from "./program-of.ts";
import { VectorReplay } from "./replay-vectors.ts";
import { timeCalls } from "./time-calls.ts";

const hosts = inject("hosts");
const rows: HostRow[] = [];

afterAll(() => {
  const absent = hosts.filter(({ missing }) => missing !== null);
  const skipped = [
    ...absent.map(({ language, missing }) => `${language}: ${missing}`),
    `${otherVectors} vectors of plugins of ABI version 2, which only the Node host loads`,
  ];
  console.log(hostTable(rows, skipped));
});

describe.for(hosts)("$language", (host) => {
  const vectors = oneIn(6, portableVectors);
  const folders = temporaryFolder();
  mkdirSync(join(folders.path, "data"));
  let replay: VectorReplay | null = null;
  let [replayed, differing, ranMs] = [0, 0, 0];

  afterAll(async () => {
    await replay?.[Symbol.asyncDispose]();
    folders[Symbol.dispose]();
  });

  test.for(vectors)("$name", async ({ vector }, context) => {
    replay ??= new VectorReplay(programOf(host, context), folders.path);
    const start = performance.now();
    const differences = await replay.run(vector);
    ranMs += performance.now() - start;
    replayed += 1;
    if (differences.length > 0) differing += 1;
    expect(differences).toEqual([]);
  });

  test("has replayed all of them, and serves a call", async (context) => {
    const hosted = { plugin: shippedPlugin("user-memory"), dataDir: join(folders.path, "timed") };
    const times = await timeCalls(programOf(host, context), hosted);
    const { language, sdk, prepareS } = host;
    rows.push({ language, sdk, vectors: replayed, differences: differing, prepareS, vectorsS: ranMs / 1000, ...times });
    expect(replayed).toBe(vectors.length);
  });
});
