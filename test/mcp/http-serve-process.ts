/** `memcell serve --http` as a process, on a port of this machine. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

import { program } from "../serve/serve-process.ts";
import { audience, issuer } from "../serve/token-issuer.ts";
import type { TokenIssuer } from "../serve/token-issuer.ts";

export class HttpServeProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, started: ChildProcess) {
    this.url = url;
    this.#process = started;
  }

  static async start(args: readonly string[]): Promise<HttpServeProcess> {
    const started = spawn(process.execPath, [program, "serve", "--http", ...args], {
      stdio: ["ignore", "inherit", "pipe"],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      lines.push(line);
      const url = /listening on (http:\/\/\S+)/.exec(line)?.[1];
      if (url === undefined) continue;
      // Drains the output, so that a full pipe cannot stop the process.
      started.stderr.resume();
      return new HttpServeProcess(url, started);
    }
    throw new Error(`memcell serve has ended: ${lines.join("\n")}`);
  }

  /** Rejects if the process does not end as it should. */
  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const [code, signal] = (await exited) as [number | null, string | null];
    if (code !== 0) throw new Error(`memcell serve has ended with ${code ?? signal}`);
  }
}

/** Arguments for access with a token of this issuer. */
export function tokenArguments({ jwksUrl }: TokenIssuer): string[] {
  return ["--issuer", issuer, "--audience", audience, "--jwks", jwksUrl];
}

/** A free port, for a server that must know its address before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
