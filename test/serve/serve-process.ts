/** `memcell serve` over standard input and output as a process, line by line, to send what no client would send. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export const program: string = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

export interface Reply {
  readonly id: number | string;
  readonly result?: Record<string, unknown> & {
    readonly content?: { readonly text: string }[];
    readonly isError?: true;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  /** Lines of standard output that are not JSON. */
  readonly strayLines: readonly string[];
}

export class ServeProcess implements AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ending>;
  readonly #replies = new Map<unknown, (reply: Reply) => void>();
  readonly #early = new Map<unknown, Reply>();
  #id = 0;

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [program, "serve", ...args], { stdio: ["pipe", "pipe", "pipe"] });
    // Ignores writes to a process that has ended. The test notices the missing answer.
    this.child.stdin.on("error", () => {});
    const strayLines: string[] = [];
    const lines = createInterface({ input: this.child.stdout });
    lines.on("line", (line) => {
      if (!line.startsWith("{")) strayLines.push(line);
      else this.#receive(JSON.parse(line) as Reply);
    });
    // A test can close its end of standard error.
    const logged = text(this.child.stderr).catch(() => "");
    this.ended = Promise.all([once(this.child, "close"), logged]).then(([[code, signal], stderr]) => ({
      code: code as number | null,
      signal: signal as string | null,
      stderr,
      strayLines,
    }));
  }

  /** Does the handshake of the 2025 revisions. */
  static async open(args: readonly string[]): Promise<ServeProcess> {
    const served = new ServeProcess(args);
    const clientInfo = { name: "raw", version: "0" };
    await served.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    served.send({ method: "notifications/initialized" });
    return served;
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  write(bytes: string | Buffer): void {
    this.child.stdin.write(bytes);
  }

  reply(id: unknown): Promise<Reply> {
    const early = this.#early.get(id);
    return early ? Promise.resolve(early) : new Promise((resolve) => this.#replies.set(id, resolve));
  }

  ask(method: string, params: object = {}): Promise<Reply> {
    const id = ++this.#id;
    this.send({ id, method, params });
    return this.reply(id);
  }

  call(name: string, input: unknown): Promise<Reply> {
    return this.ask("tools/call", { name, arguments: input });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end();
    await this.ended;
  }

  #receive(reply: Reply): void {
    const resolve = this.#replies.get(reply.id);
    if (resolve) resolve(reply);
    else this.#early.set(reply.id, reply);
  }
}

export const entry = (name: string, body = "b"): object => ({
  action: "upsert",
  name,
  type: "user",
  description: `What ${name} is`,
  body,
});
