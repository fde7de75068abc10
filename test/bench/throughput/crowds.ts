/** Users who replace entries as fast as they can: of memcell in one runtime, of the naive way with a thread each. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { createRuntime } from "memcell";

import { expectOk, upsertInput } from "../entry.ts";

export const entriesCount = 40;

export interface Worked {
  /** Milliseconds of each call. */
  readonly times: readonly number[];
  readonly elapsedMs: number;
}

/** Many simultaneous users, each with its own folder. */
export interface Crowd {
  readonly key: string;
  readonly name: string;
  /** Runs this many users at the same time, each one call after the other. */
  work(usersCount: number, windowMs: number): Promise<Worked[]>;
  close(): Promise<void>;
}

export async function ourCrowd(dataDir: string, usersMax: number): Promise<Crowd> {
  const runtime = await createRuntime({ dataDir });
  const turns = Array.from({ length: usersMax }, () => 0);
  const upsert = async (user: number): Promise<void> => {
    const turn = turns[user] ?? 0;
    turns[user] = turn + 1;
    const input = upsertInput(turn % entriesCount, Math.floor(turn / entriesCount));
    await expectOk(runtime.call("UpdateUserMemory", input, { userId: `user-${user}` }));
  };
  const make = async (user: number): Promise<void> => {
    for (let entry = 0; entry < entriesCount; entry++) await upsert(user);
  };
  await Promise.all(turns.map((_, user) => make(user)));
  return {
    key: "memcell",
    name: "memcell",
    work: (usersCount, windowMs) =>
      Promise.all(Array.from({ length: usersCount }, (_, user) => workFor(windowMs, () => upsert(user)))),
    close: () => runtime.close(),
  };
}

export async function naiveCrowd(folder: string, usersMax: number): Promise<Crowd> {
  const script = new URL("naive-thread.js", import.meta.url);
  const threads = Array.from(
    { length: usersMax },
    (_, user) => new Worker(script, { workerData: { folder: join(folder, `user-${user}`) } }),
  );
  // The first answer comes after a thread has created its entries.
  await Promise.all(threads.map((thread) => workIn(thread, 1)));
  return {
    key: "naive",
    name: "naive durable write, a thread for each user",
    work: (usersCount, windowMs) => Promise.all(threads.slice(0, usersCount).map((thread) => workIn(thread, windowMs))),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

async function workIn(thread: Worker, windowMs: number): Promise<Worked> {
  thread.postMessage(windowMs, []);
  const [worked] = (await once(thread, "message")) as [Worked];
  return worked;
}

export async function workFor(windowMs: number, upsert: () => void | Promise<void>): Promise<Worked> {
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
