/**
 * A process whose threads cannot start: it breaks the code of a thread in a copy of the package, and says how calls end
 * meanwhile and afterwards. `thread-start.test.ts` starts it.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";

import type * as memcell from "memcell";

/** Each is a scenario and a way in which code is broken. */
const [copy = "", ...plays] = process.argv.slice(2);
const { createRuntime, CredentialDetector, memoryStore } = (await import(
  pathToFileURL(join(copy, "dist/host/index.js")).href
)) as typeof memcell;

/** A file of the copy that can be broken. */
function breakable(path: string): { readonly break: (how: string) => void; readonly mend: () => void } {
  const file = join(copy, "dist/host", path);
  const whole = readFileSync(file, "utf8");
  const states: Readonly<Record<string, string>> = {
    "is cut off": whole.slice(0, whole.length / 2),
    "is whole": whole,
    throws: `throw new Error("It is broken");\n${whole}`,
    exits: `process.exit(0);\n${whole}`,
    "waits for ever": `setInterval(() => {}, 1_000);\nawait new Promise(() => {});\n${whole}`,
    spins: `for (;;);\n${whole}`,
    "is slow": `await new Promise((resolve) => setTimeout(resolve, 1_000));\n${whole}`,
  };
  return {
    break: (how) => (how === "is missing" ? rmSync(file) : writeFileSync(file, states[how] ?? "")),
    mend: () => writeFileSync(file, whole),
  };
}

const thread = breakable("thread/worker.js");
const credentials = breakable("detect/credential-thread.js");
const workers: Worker[] = [];
process.on("worker", (worker) => workers.push(worker));
const lines: string[] = [];

const open = (options: Partial<memcell.RuntimeOptions> = {}): Promise<memcell.Runtime> =>
  createRuntime({ store: memoryStore(), waitMs: 2_000, onLog: ({ text }) => void lines.push(text), ...options });

const write = { action: "upsert", name: "a", description: "A", type: "user", body: "b" };

async function call(runtime: memcell.Runtime, userId = "alice", signal?: AbortSignal): Promise<string> {
  const result = await runtime.call("UpdateUserMemory", write, { userId, signal });
  return result.ok ? "ok" : result.error.code;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
  );

/** The lines so far about a thread that cannot start. */
const told = (): number => lines.filter((line) => line.includes("Cannot start a thread")).length;

const scenarios: Record<string, (how: string) => Promise<unknown>> = {
  "a call": async (how) => {
    thread.break(how);
    const runtime = await open();
    const first = await call(runtime);
    const index = await codeOf(runtime.memoryIndex({ userId: "alice" }));
    thread.mend();
    const next = await call(runtime);
    await runtime.close();
    return { first, index, next, isTold: told() > 0 };
  },
  "a cancelled call": async (how) => {
    thread.break(how);
    const runtime = await open({ waitMs: 60_000 });
    const controller = new AbortController();
    const cancelled = call(runtime, "alice", controller.signal);
    await setImmediate();
    controller.abort();
    const first = await cancelled;
    thread.mend();
    const next = await call(runtime);
    await runtime.close();
    return { first, next };
  },
  "a closed runtime": async (how) => {
    thread.break(how);
    const runtime = await open({ waitMs: 60_000, closeGraceMs: 100 });
    const calls = [call(runtime, "alice"), call(runtime, "alice"), call(runtime, "bob")];
    await setImmediate();
    await runtime.close();
    return { calls: await Promise.all(calls) };
  },
  "a slow start": async (how) => {
    thread.break(how);
    const runtime = await open({ waitMs: 60_000 });
    const first = await call(runtime);
    await runtime.close();
    return { first };
  },
  "many calls": async (how) => {
    thread.break(how);
    const runtime = await open({ threadsMax: 2 });
    const users = Array.from({ length: 40 }, (_, at) => `user-${at}`);
    const codes = await Promise.all(users.map((userId) => call(runtime, userId)));
    await runtime.close();
    return { codes: [...new Set(codes)], isBounded: workers.length <= users.length, told: told() };
  },
  // As in an upgrade in place: the threads of before go on, and no others can start.
  "a later start": async (how) => {
    const runtime = await open({ threadsMax: 2 });
    const first = await call(runtime);
    thread.break(how);
    const users = Array.from({ length: 40 }, (_, at) => `user-${at}`);
    const beside = new Set(await Promise.all(users.map((userId) => call(runtime, userId))));
    const isBounded = workers.length < users.length / 2;
    await Promise.all(workers.map((worker) => worker.terminate()));
    const failing = await call(runtime);
    thread.mend();
    const next = await call(runtime);
    await runtime.close();
    return { first, beside: [...beside], isBounded, failing, next };
  },
  "an open runtime": async (how) => {
    thread.break(how);
    return { first: await call(await open()) };
  },
  credentials: async (how) => {
    credentials.break(how);
    const detector = new CredentialDetector({ deadlineMs: 1_000 });
    const runtime = await open({ onWrite: detector.onWrite });
    const first = await call(runtime);
    const isTold = lines.length > 0;
    credentials.mend();
    const next = await call(runtime, "carol");
    await runtime.close();
    await detector.close();
    return { first, isTold, next };
  },
};

const answers: Record<string, unknown> = {};
for (const play of plays) {
  const [scenario = "", how = ""] = play.split(": ");
  workers.length = 0;
  lines.length = 0;
  answers[play] = await scenarios[scenario]?.(how);
  thread.mend();
}
process.stdout.write(JSON.stringify(answers));
