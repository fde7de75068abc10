import { once } from "node:events";
import { setImmediate } from "node:timers/promises";

import { expect } from "vitest";

import { sharedServer } from "../support/postgres/fresh-database.ts";
import { startCopy } from "./memcell-copy.ts";

/** Kills a copy as soon as the target shows something. */
export async function killWhen(from: string, to: string, isReached: () => boolean | Promise<boolean>): Promise<void> {
  const running = startCopy(from, to);
  const ended = once(running, "exit");
  while (!(await isReached())) {
    if (running.exitCode !== null) throw new Error("The copy has ended before it could be killed");
    await setImmediate();
  }
  running.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

export interface CountedDatabase extends AsyncDisposable {
  homes(): Promise<number>;
}

/** Counts the homes in a database, as an administrator. */
export async function countedDatabase(url: string): Promise<CountedDatabase> {
  const name = /\/([^/?]+)(?:\?|$)/.exec(url.replace(/^postgres:\/\/[^/]*/, ""))?.[1] ?? "";
  const admin = await (await sharedServer()).connect("postgres", name);
  return {
    homes: async () => {
      const { rows } = await admin.query<{ homes: number }>("SELECT count(*)::int AS homes FROM memcell.homes");
      return rows[0]?.homes ?? 0;
    },
    [Symbol.asyncDispose]: () => admin.end(),
  };
}
