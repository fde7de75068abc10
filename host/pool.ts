/**
 * Threads that run guests. Sole importer of piscina.
 *
 * One task in a thread at a time: a guest's work is synchronous, and a thread may one day be killed for it.
 */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

import { Piscina } from "piscina";

import type { WorkerReply, WorkerSetup, WorkerTask } from "./worker.ts";

/** How long a thread that has nothing to do is kept. */
const idleMs = 60_000;

export interface Pool {
  run(task: WorkerTask): Promise<WorkerReply>;
  /** Waits for what runs, then ends the threads. */
  close(): Promise<void>;
}

export function createPool(setup: WorkerSetup, threadsMax: number = availableParallelism()): Pool {
  const piscina = new Piscina<WorkerTask, WorkerReply>({
    filename: fileURLToPath(import.meta.resolve("#worker")),
    workerData: setup,
    minThreads: 1,
    maxThreads: threadsMax,
    concurrentTasksPerWorker: 1,
    // A thread that slept in Atomics.wait could not make the next call's instance. Events are as fast: 44 µs each way.
    atomics: "disabled",
    // Without it every burst ends all threads but one, and the next burst pays 40 ms to start each again.
    idleTimeout: idleMs,
    // Importing the SDK loads node:wasi, which warns of itself in every thread; no plugin gets WASI.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  return {
    run: (task) => piscina.run(task),
    close: () => piscina.close(),
  };
}
