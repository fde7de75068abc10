/** `memcell serve --http` as a process, and its audit log. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, watch } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { AuditRecord } from "../../stage/audit-log.ts";
import { shippedFlags } from "../../support/test-plugin.ts";

export const command: string = fileURLToPath(new URL("../../../dist/host/cli/main.js", import.meta.url));

export class ServedProcess implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #logFile: string;

  private constructor(started: ChildProcess, port: number, logFile: string) {
    this.#process = started;
    this.port = port;
    this.#logFile = logFile;
  }

  /** Adds `args` to those common to all. Rejects with the process's output if it does not start listening. */
  static async start(args: readonly string[], { dataDir, logFile }: ServedFiles): Promise<ServedProcess> {
    const places = ["--data", dataDir, "--audit-log", logFile, ...shippedFlags()];
    const all = [command, "serve", "--http", "--port", "0", ...places, ...args];
    const started = spawn(process.execPath, all, { stdio: ["ignore", "inherit", "pipe"] });
    const said: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      said.push(line);
      const port = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(line)?.[1];
      if (port === undefined) continue;
      started.stderr.resume();
      return new ServedProcess(started, Number(port), logFile);
    }
    throw new Error(`The server ended: ${said.join("\n")}`);
  }

  /** The records so far. */
  records(): AuditRecord[] {
    const lines = readFileSync(this.#logFile, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as AuditRecord);
  }

  /** Resolves when `isEnough` accepts the records. Some are written after a connection has ended. */
  async recordsUntil(isEnough: (records: AuditRecord[]) => boolean): Promise<AuditRecord[]> {
    const abort = new AbortController();
    const changes = watch(this.#logFile, { signal: abort.signal });
    changes.on("error", () => {});
    try {
      for (let records = this.records(); ; records = this.records()) {
        if (isEnough(records)) return records;
        await once(changes, "change");
      }
    } finally {
      abort.abort();
    }
  }

  /** Stops the process and returns its exit code. */
  async end(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const [code] = (await exited) as [number | null];
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

export interface ServedFiles {
  readonly dataDir: string;
  readonly logFile: string;
}
