/**
 * A process that runs one build, or the naive way, which reads nothing back. Arguments: the build's folder or `naive`, a
 * data folder, and `fill` to make 1,000 upserts of one user and end.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as Memcell from "memcell";

import { entryName, expectOk, NaiveFolder, upsertInput } from "../entry.ts";
import { entriesCount, naiveCrowd, workFor } from "../throughput/crowds.ts";
import { isRead, kinds, measured, usersOf } from "./work.ts";
import type { Asked, Done, Kind } from "./work.ts";

const fillCount = 1_000;
const [, , build = "", dataDir = "", order] = process.argv;

interface Worker {
  work(asked: Asked): Promise<Done>;
  close(): Promise<void>;
}

if (order === "fill") await fill();
else serve(await (build === "naive" ? naive() : ours()));

function serve(worker: Worker): void {
  // Also when the parent has failed.
  process.on("disconnect", () => void worker.close());
  process.on("message", async (asked: Asked | "end") => {
    if (asked === "end") process.disconnect();
    else process.send?.(await worker.work(asked));
  });
  process.send?.("ready");
}

async function runtimeOf(): Promise<Memcell.Runtime> {
  const { createRuntime } = (await import(pathToFileURL(join(build, "dist/host/index.js")).href)) as typeof Memcell;
  return await createRuntime({ dataDir });
}

async function fill(): Promise<void> {
  await using runtime = await runtimeOf();
  for (let turn = 0; turn < fillCount; turn++) {
    const input = upsertInput(turn % entriesCount, Math.floor(turn / entriesCount));
    await expectOk(runtime.call("UpdateUserMemory", input, { userId: "filled" }));
  }
}

const users = (kind: Kind): number[] => Array.from({ length: usersOf(kind) }, (_, user) => user);

/** Each kind has users of its own, so that each call begins with what its kind has left. */
async function ours(): Promise<Worker> {
  const runtime = await runtimeOf();
  const turns = new Map<string, number>();
  const call = async (kind: Kind, user: number): Promise<void> => {
    const userId = `${usersOf(kind)}-${user}`;
    const turn = turns.get(`${kind} ${user}`) ?? 0;
    turns.set(`${kind} ${user}`, turn + 1);
    const at = turn % entriesCount;
    const answer = isRead(kind)
      ? runtime.call("ReadUserMemory", { name: entryName(at) }, { userId })
      : runtime.call("UpdateUserMemory", upsertInput(at, Math.floor(turn / entriesCount)), { userId });
    await expectOk(answer);
  };
  for (const kind of kinds.filter((each) => !isRead(each))) {
    for (let entry = 0; entry < entriesCount; entry++) for (const user of users(kind)) await call(kind, user);
  }
  return {
    work: ({ kind, windowMs }) =>
      measured(async () => {
        const worked = await Promise.all(users(kind).map((user) => workFor(windowMs, () => call(kind, user))));
        return worked.flatMap(({ times }) => times);
      }),
    close: () => runtime.close(),
  };
}

async function naive(): Promise<Worker> {
  const own = new NaiveFolder(join(dataDir, "own"));
  const crowd = await naiveCrowd(join(dataDir, "crowd"), usersOf("upserts of 8 users"));
  let turn = 0;
  const upsert = (): void => {
    own.upsert(turn % entriesCount, Math.floor(turn / entriesCount));
    turn++;
  };
  for (let entry = 0; entry < entriesCount; entry++) upsert();
  return {
    work: ({ kind, windowMs }) =>
      measured(async () => {
        const count = usersOf(kind);
        const worked = count === 1 ? [await workFor(windowMs, upsert)] : await crowd.work(count, windowMs);
        return worked.flatMap(({ times }) => times);
      }),
    close: () => crowd.close(),
  };
}
