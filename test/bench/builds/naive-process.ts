/** A process that stores in the naive way, with a thread for each of many users. Argument: the folder. */
import { join } from "node:path";

import { NaiveFolder } from "../naive-upsert.ts";
import { naiveCrowd } from "../throughput/crowds.ts";
import { entriesCount, measured, measuredCalls, usersOf } from "./work.ts";
import type { Asked, Done } from "./work.ts";

const [, , folder = ""] = process.argv;
const own = new NaiveFolder(join(folder, "own"));
const crowd = await naiveCrowd(join(folder, "crowd"), usersOf("upserts of 8 users"));
let turn = 0;

function upsert(): void {
  own.upsert(turn % entriesCount, Math.floor(turn / entriesCount));
  turn++;
}

for (let entry = 0; entry < entriesCount; entry++) upsert();

const manyUsers = (usersCount: number, windowMs: number): Promise<Done> =>
  measured(async () => (await crowd.work(usersCount, { windowMs })).flatMap(({ times }) => times));

// Also when the parent has failed.
process.on("disconnect", () => void crowd.close());
process.on("message", async (asked: Asked | "end") => {
  if (asked === "end") return process.disconnect();
  const usersCount = usersOf(asked.kind);
  process.send?.(
    usersCount === 1 ? await measuredCalls(1, asked.windowMs, upsert) : await manyUsers(usersCount, asked.windowMs),
  );
});
process.send?.("ready");
