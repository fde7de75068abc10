/** `memcell serve --http` as a process, on a free port of this machine. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { TokenIssuer } from "./token-issuer.ts";

const command = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

export class HttpServeProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, started: ChildProcess, folder: string) {
    this.url = url;
    this.#process = started;
    this.#folder = folder;
  }

  /** For whoever has a token of `access`, or for one user. */
  static async start(args: readonly string[], access: TokenIssuer | string): Promise<HttpServeProcess> {
    const folder = mkdtempSync(join(tmpdir(), "memcell-test-"));
    const admitting = typeof access === "string" ? ["--user", access] : await tokenArguments(access, folder);
    const allArgs = [command, "serve", "--http", "--port", "0", ...admitting, ...args];
    const started = spawn(process.execPath, allArgs, { stdio: ["ignore", "inherit", "pipe"] });
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      lines.push(line);
      const url = /http:\/\/\S+/.exec(line)?.[0];
      if (url === undefined) continue;
      // What it says from now on is read by nobody, and must not stop it.
      started.stderr.resume();
      return new HttpServeProcess(url, started, folder);
    }
    throw new Error(`memcell serve has ended: ${lines.join("\n")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await exited;
    rmSync(this.#folder, { recursive: true });
  }
}

async function tokenArguments(issuer: TokenIssuer, folder: string): Promise<string[]> {
  const keys = join(folder, "keys.json");
  writeFileSync(keys, await issuer.keySet());
  return ["--auth-issuer", issuer.issuer, "--auth-audience", issuer.audience, "--auth-jwks", keys];
}
