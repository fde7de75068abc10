/** An append that is repeated after thousands of others of the same run stores nothing and answers as the first time. */
import { createRuntime, memoryStore } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { isLong } from "../stage/seed.ts";

const appendsCount = isLong ? 10_000 : 2_500;
const [run, ctx] = [{ agentId: "planner", runId: "long" }, { userId: "alice" }];

test("an append with the id of one before thousands of others stores nothing", { timeout: 600_000 }, async () => {
  await using runtime = await createRuntime({ store: memoryStore(), plugins: ["run-history"], threadsMax: 1 });
  const first = await append(runtime, "first", 3);
  expect(first).toMatchObject({ ok: true, data: { appended: 3 } });
  for (let number = 0; number < appendsCount; number++) {
    expect(await append(runtime, `${number}`, 1)).toMatchObject({ ok: true, data: { appended: 1 } });
  }
  const before = await runtime.callAsHost("ListRuns", {}, ctx);
  expect(before).toMatchObject({ ok: true, data: { entries: [{ events: appendsCount + 3 }] } });

  expect(await append(runtime, "first", 2)).toEqual(first);
  // Spread over all files of ids.
  for (let number = 0; number < appendsCount; number += 97) {
    expect(await append(runtime, `${number}`, 2)).toMatchObject({ ok: true, data: { appended: 1 } });
  }
  expect(await runtime.callAsHost("ListRuns", {}, ctx)).toEqual(before);
  expect(await append(runtime, "another", 2)).toMatchObject({ ok: true, data: { appended: 2 } });
});

function append(runtime: Runtime, appendId: string, eventsCount: number): ReturnType<Runtime["callAsHost"]> {
  const events = Array.from({ length: eventsCount }, () => ({ type: "planner_note", data: '{"note":""}' }));
  return runtime.callAsHost("AppendRunEvents", { ...run, appendId, events }, ctx);
}
