/** Runs vectors on one host program: calls in order, and one process for all vectors of a plugin. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { expectedFiles, foundFiles, writeBefore } from "../conformance/vector-files.ts";
import { vectorPlugin } from "../conformance/vector-plugins.ts";
import { runtimeKey } from "../conformance/vector.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";
import type { HostProgram } from "./host-kind.ts";
import { LineHost } from "./line-host.ts";
import type { HostedCall } from "./line-host.ts";

/** A difference between a host and a vector. */
export interface Difference {
  readonly at: string;
  readonly expected: unknown;
  readonly found: unknown;
}

interface StartedHost {
  readonly host: Promise<LineHost>;
  readonly dataDir: string;
}

/**
 * One host's processes, each started once for its plugin and limits. Each has a data folder of its own: a process retires a
 * home seconds after its last call, and would take the home of the next vector, at the same time of the vectors' clock, for
 * an older state of it.
 */
export class VectorReplay implements AsyncDisposable {
  readonly #program: HostProgram;
  readonly #folder: string;
  readonly #hosts = new Map<string, StartedHost>();

  /** `folder` is empty and used by this replay only. */
  constructor(program: HostProgram, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** Runs one vector and compares every answer and every byte of the users' files. */
  async run(vector: Vector): Promise<Difference[]> {
    const { host: started, dataDir } = this.#hostFor(vector);
    const host = await started;
    this.#clear(dataDir);
    writeBefore(dataDir, vector);
    const differences: Difference[] = [];
    for (const [at, call] of vector.calls.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- a call builds on the files of those before it
      const found = await host.ask(this.#asked(call, at === 0));
      if (!isDeepStrictEqual(found, call.result))
        differences.push({ at: `call ${at + 1}`, expected: call.result, found });
    }
    const [expected, found] = [expectedFiles(vector), foundFiles(dataDir)];
    if (!isDeepStrictEqual(found, expected)) differences.push({ at: "files", expected, found });
    return differences;
  }

  /** Keeps the folder itself, and moves what is in it: a host can still be at work there. */
  #clear(dataDir: string): void {
    const names = readdirSync(dataDir);
    if (names.length === 0) return;
    const past = mkdtempSync(join(this.#folder, "past-"));
    for (const name of names) renameSync(join(dataDir, name), join(past, name));
  }

  #asked({ result: _result, ...call }: VectorCall, isFirst: boolean): HostedCall {
    return isFirst && this.#program.isToldOfRenewal ? { ...call, isRenewed: true } : call;
  }

  #hostFor(vector: Vector): StartedHost {
    const { plugin = "user-memory", limits = {} } = vector;
    const key = runtimeKey(vector);
    const known = this.#hosts.get(key);
    if (known) return known;
    const dataDir = join(this.#folder, `data-${this.#hosts.size + 1}`);
    mkdirSync(dataDir);
    const host = LineHost.start(this.#program, { plugin: vectorPlugin(plugin, this.#folder), dataDir, limits });
    this.#hosts.set(key, { host, dataDir });
    return { host, dataDir };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const hosts = await Promise.allSettled([...this.#hosts.values()].map(({ host }) => host));
    await Promise.all(hosts.map(async (each) => each.status === "fulfilled" && (await each.value.end())));
  }
}
