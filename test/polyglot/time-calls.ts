/** Measures one call on a host: from the request line to the answer line, in a process that has served others. */
import { median } from "../bench/figures.ts";
import type { HostProgram } from "./host-kind.ts";
import { LineHost } from "./line-host.ts";
import type { Hosted } from "./line-host.ts";

export interface CallTimes {
  readonly startMs: number;
  readonly upsertMs: number;
  readonly readMs: number;
}

/** Enough for a just-in-time compiler to start working, and few enough for the slowest host. */
const warmUps = 10;
const rounds = 30;

const context = { userId: "alice" };
const name = "preferred-language";
const upsert = {
  tool: "UpdateUserMemory",
  context,
  input: { action: "upsert", name, type: "user", description: "User prefers Japanese output", body: "x".repeat(1000) },
};
const read = { tool: "ReadUserMemory", context, input: { name } };

export async function timeCalls(program: HostProgram, hosted: Hosted): Promise<CallTimes> {
  const start = performance.now();
  await using host = await LineHost.start(program, hosted);
  const startMs = performance.now() - start;
  const upserts: number[] = [];
  const reads: number[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    // oxlint-disable no-await-in-loop -- one after the other is what is measured
    upserts.push(await timeOne(host, upsert));
    reads.push(await timeOne(host, read));
    // oxlint-enable no-await-in-loop
  }
  return { startMs, upsertMs: median(upserts.slice(warmUps)), readMs: median(reads.slice(warmUps)) };
}

async function timeOne(host: LineHost, call: typeof upsert | typeof read): Promise<number> {
  const start = performance.now();
  const answer = await host.ask(call);
  const tookMs = performance.now() - start;
  if ((answer as { ok?: unknown }).ok !== true) throw new Error(`The call failed: ${JSON.stringify(answer)}`);
  return tookMs;
}
