/**
 * Replays every vector, and the vectors for the Node host alone, on the Node host with files. In memory and on
 * PostgreSQL a sixth of them, others with each seed.
 */
import { existsSync } from "node:fs";

import { afterAll, describe, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectedFiles } from "./vector-files.ts";
import { VectorRuntime } from "./vector-runtime.ts";
import { vectorStores } from "./vector-stores.ts";
import type { VectorStoreKind } from "./vector-stores.ts";
import { readVectors, runtimeKey } from "./vector.ts";

const vectors = [...readVectors(), ...readVectors("node-vectors")];
/** Vectors that share a runtime follow each other. */
const byRuntime = vectors.toSorted((a, b) => runtimeKey(a.vector).localeCompare(runtimeKey(b.vector)));

/** Vectors are about contents, and not about what a disk keeps: a disk in main memory needs no time for flushes. */
const disk = existsSync("/dev/shm") ? "/dev/shm" : undefined;

describe.each(Object.entries<VectorStoreKind>(vectorStores))("%s", (kind, stores) => {
  const folder = temporaryFolder(disk);
  const host = new VectorRuntime(stores, folder.path);
  afterAll(async () => {
    using _folder = folder;
    await host[Symbol.asyncDispose]();
  });

  test.for(kind === "fileStore" ? byRuntime : oneIn(6, byRuntime))("$name", async ({ vector }, context) => {
    const lacking = stores.lacks(vector, folder.path);
    if (lacking !== null) skipWithReason(context, lacking);
    const { results, files, states } = await host.replay(vector);
    expect(results).toEqual(vector.calls.map(({ result }) => result));
    expect(files).toEqual(expectedFiles(vector));
    expect(states).toEqual(vector.storesAfter ?? {});
  });
});
