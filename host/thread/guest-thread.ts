/**
 * One worker thread, which runs one task at a time: a guest's work is synchronous, and its thread can be terminated
 * because of it. The only file that imports piscina. Each thread is a piscina of its own (`RATIONALE.md`, "Why is each
 * thread a piscina of its own?").
 */
import { Piscina } from "piscina";

import { clearTrail, closeTrail, newTrail, runningMs } from "../audit/collect/trail-memory.ts";
import type { Trail } from "../audit/collect/trail-memory.ts";
import { packageFile } from "../values/package-file.ts";
import type { ThreadTask } from "./bounded-task.ts";
import type { BridgeRequest, ModulesRequest, ThreadStart, WorkerReply, WorkerSetup, WorkerTask } from "./worker.ts";

export interface GuestThreadParts {
  readonly setup: WorkerSetup;
  readonly onRequest: (request: ModulesRequest | BridgeRequest) => void;
  /** Called once when the thread has ended or is about to, for whatever reason. It takes no more tasks. */
  readonly onEnd: (thread: GuestThread) => void;
  /** Called with why it has died, if no task gets to know that. */
  readonly onError: (error: unknown) => void;
}

/** A task in its thread. */
export interface RunningTask extends ThreadTask<WorkerReply> {
  /** What the guest has done. The thread's next task clears it. */
  readonly trail: Trail;
}

export class GuestThread {
  /** Resolves when it can take a task. Rejects with why it has ended before. */
  readonly started: Promise<unknown>;
  readonly #piscina: Piscina<WorkerTask | ThreadStart, WorkerReply | null>;
  readonly #beganMs = performance.now();
  readonly #trail = newTrail();
  readonly #exited: Promise<void>;
  #hasEnded = false;

  /** Throws if the system gives the process no more threads. */
  constructor({ setup, onRequest, onEnd, onError }: GuestThreadParts) {
    this.#piscina = new Piscina({
      filename: threadFile(),
      workerData: setup,
      minThreads: 1,
      maxThreads: 1,
      // A thread that sleeps in Atomics.wait could not prepare the next call's instance. Events are as fast: 44 µs each
      // way.
      atomics: "disabled",
      recordTiming: false,
      // The SDK imports node:wasi, which prints a warning in every thread; no plugin gets WASI.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    // Not `once` from node:events: it would turn an error of the dying thread into a rejection.
    this.#exited = new Promise((resolve) => void this.#piscina.threads[0]?.once("exit", () => resolve()));
    this.#piscina.on("message", onRequest);
    this.#piscina.on("error", onError);
    this.#piscina.on("workerDestroy", () => {
      // Or piscina would start another thread in its place.
      void this.end();
      onEnd(this);
    });
    this.started = this.#piscina.run({ trail: this.#trail.memory });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** How long ago its start began. */
  get ageMs(): number {
    return performance.now() - this.#beganMs;
  }

  /** Only when it has started, and no other task is in it. */
  run(task: WorkerTask): RunningTask {
    const trail = this.#trail;
    clearTrail(trail);
    return {
      trail,
      reply: this.#piscina.run(task) as Promise<WorkerReply>,
      runningMs: () => runningMs(trail),
      close: () => closeTrail(trail),
      kill: () => void this.end(),
    };
  }

  /** Terminates the thread, also a busy or starting one. Resolves when it has exited. */
  end(): Promise<void> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      // Its promise can stay open: a thread that has exited on its own does not exit again.
      void this.#piscina.destroy();
    }
    return this.#exited;
  }
}

/** What piscina loads, which loads the code of a thread beside it. Throws `INTERNAL` if it is missing. */
export const threadFile = (): string => packageFile("dist/host/thread/load-worker.cjs");
