/** Users of memcell in one runtime, and users of the naive way with one thread each. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { createRuntime } from "memcell";

import { upsertInput } from "../entry.ts";
import { entriesCount } from "./user-work.ts";
import type { Crowd, Window, Worked } from "./user-work.ts";

export async function ourCrowd(dataDir: string, usersMax: number): Promise<Crowd> {
  const runtime = await createRuntime({ dataDir });
  const turns = Array.from({ length: usersMax }, () => 0);
  const upsert = async (user: number): Promise<void> => {
    const turn = turns[user] ?? 0;
    turns[user] = turn + 1;
    const input = upsertInput(turn % entriesCount, Math.floor(turn / entriesCount));
    const result = await runtime.call("UpdateUserMemory", input, { userId: `user-${user}` });
    if (!result.ok) throw new Error(result.error.message);
  };
  const make = async (user: number): Promise<void> => {
    for (let entry = 0; entry < entriesCount; entry++) await upsert(user);
  };
  await Promise.all(turns.map((_, user) => make(user)));
  return {
    key: "memcell",
    name: "memcell",
    work: (usersCount, window) =>
      Promise.all(Array.from({ length: usersCount }, (_, user) => workFor(window, () => upsert(user)))),
    close: () => runtime.close(),
  };
}

async function workFor({ windowMs }: Window, upsert: () => Promise<void>): Promise<Worked> {
  const times: number[] = [];
  const startMs = performance.now();
  let nowMs = startMs;
  while (nowMs - startMs < windowMs) {
    const beganMs = nowMs;
    await upsert();
    nowMs = performance.now();
    times.push(nowMs - beganMs);
  }
  return { times, elapsedMs: nowMs - startMs };
}

export async function naiveCrowd(folder: string, usersMax: number): Promise<Crowd> {
  const script = new URL("naive-thread.js", import.meta.url);
  const threads = Array.from(
    { length: usersMax },
    (_, user) => new Worker(script, { workerData: { folder: join(folder, `user-${user}`) } }),
  );
  // The first answer comes after a thread has created its entries.
  await Promise.all(threads.map((thread) => workIn(thread, { windowMs: 1 })));
  return {
    key: "naive",
    name: "naive durable write, a thread for each user",
    work: (usersCount, window) => Promise.all(threads.slice(0, usersCount).map((thread) => workIn(thread, window))),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

async function workIn(thread: Worker, window: Window): Promise<Worked> {
  thread.postMessage(window, []);
  const [worked] = (await once(thread, "message")) as [Worked];
  return worked;
}
