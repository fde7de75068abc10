/** The vector server as a process, its orders and its token issuer. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { TokenIssuer } from "../serve/token-issuer.ts";
import type { VectorOrder, VectorOrdered } from "./vector-orders.ts";

const program = fileURLToPath(new URL("../../dist/test/mcp/vector-server.js", import.meta.url));

export class VectorProcess implements AsyncDisposable {
  readonly issuer: TokenIssuer;
  readonly #process: ChildProcess;
  #complaint = "";

  private constructor(issuer: TokenIssuer, started: ChildProcess) {
    this.issuer = issuer;
    this.#process = started;
    started.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#complaint += text;
    });
  }

  static async start(): Promise<VectorProcess> {
    const issuer = await TokenIssuer.start();
    return new VectorProcess(issuer, fork(program, [issuer.jwksUrl], { stdio: ["ignore", "inherit", "pipe", "ipc"] }));
  }

  /** Starts a server if needed, and sets the clock of all servers. Accepts one order at a time. */
  async order(order: VectorOrder): Promise<string> {
    const ended = new AbortController();
    const answer = once(this.#process, "message", { signal: ended.signal });
    const end = once(this.#process, "exit", { signal: ended.signal });
    // The loser of the race is aborted. Its rejection is expected.
    for (const each of [answer, end]) each.catch(() => {});
    this.#process.send(order);
    const [first] = (await Promise.race([answer, end])) as [VectorOrdered | number | null];
    ended.abort();
    if (typeof first === "object" && first !== null) return first.url;
    throw new Error(`The vector server ended: ${this.#complaint || "it says nothing"}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const exited = once(this.#process, "exit");
      this.#process.disconnect();
      await exited;
    }
    await this.issuer[Symbol.asyncDispose]();
  }
}
