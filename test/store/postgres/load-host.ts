/**
 * A host under load, which can be killed at any instant: one call after another for users that other hosts have too.
 * Before the next call it prints the last one's end: `done <body>`, or `failed <body> <code> <message>`.
 */
import { writeSync } from "node:fs";

import { createRuntime, postgresStore } from "memcell";

export interface LoadOrder {
  readonly url: string;
  /** No other host has the same. */
  readonly name: string;
  readonly users: readonly string[];
  readonly entries: readonly string[];
}

const { url, name, users, entries } = JSON.parse(process.argv[2] ?? "") as LoadOrder;
const runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
writeSync(1, "ready\n");
for (let call = 1; ; call++) {
  const body = `${name}-${call}`;
  const input = { action: "upsert", name: oneOf(entries, call), type: "user", description: body, body };
  const result = await runtime.call("UpdateUserMemory", input, { userId: oneOf(users, call) });
  writeSync(1, result.ok ? `done ${body}\n` : `failed ${body} ${result.error.code} ${result.error.message}\n`);
}

/** So that all pairs of a user and an entry have their turn, if their numbers have no common factor. */
function oneOf(all: readonly string[], call: number): string {
  return all[call % all.length] ?? "";
}
