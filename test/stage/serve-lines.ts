/** `memcell serve` over standard input and output, line by line, to send what no client would send. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { runCommand } from "./command.ts";

export const program: string = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

/** The standard streams of a server. */
export interface Wires {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

// Each server of this process listens for signals for as long as the process lives.
process.setMaxListeners(0);

/** Serves in this process, with the real command. It ends with its input. */
export function serveHere(args: readonly string[]): Wires {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ended = runCommand(["serve", ...args], { stdin, stdout, stderr, env: process.env }).then((code) => {
    stdout.end();
    stderr.end();
    return { code, signal: null };
  });
  return { stdin, stdout, stderr, ended };
}

/** Serves in a process of its own. */
export function serveAlone(args: readonly string[]): Wires & { readonly child: ChildProcess } {
  const child = spawn(process.execPath, [program, "serve", ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, child };
}

export interface Reply {
  readonly id: number | string | null;
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

export class ServeLines<Of extends Wires = Wires> implements AsyncDisposable {
  readonly wires: Of;
  readonly ended: Promise<Ending>;
  /** Messages that answer no request. */
  readonly notified: { readonly method: string; readonly params: Record<string, unknown> }[] = [];
  readonly #replies = new Map<unknown, (reply: Reply) => void>();
  readonly #early = new Map<unknown, Reply>();
  #id = 0;

  constructor(wires: Of) {
    this.wires = wires;
    // Ignores writes to a server that has ended. The test notices the missing answer.
    wires.stdin.on("error", () => {});
    const strayLines: string[] = [];
    createInterface({ input: wires.stdout }).on("line", (line) => {
      if (line.startsWith("{")) this.#receive(JSON.parse(line) as Reply);
      else strayLines.push(line);
    });
    // A test can close its end of standard error.
    const logged = text(wires.stderr).catch(() => "");
    this.ended = Promise.all([wires.ended, logged]).then(([end, stderr]) => ({ ...end, stderr, strayLines }));
  }

  /** Does the handshake of the 2025 revisions, in this process unless other wires are given. */
  static async open(args: readonly string[], clientInfo?: object): Promise<ServeLines> {
    return await ServeLines.over(serveHere(args), clientInfo);
  }

  static async over<Of extends Wires>(
    wires: Of,
    clientInfo: object = { name: "raw", version: "0" },
  ): Promise<ServeLines<Of>> {
    const served = new ServeLines(wires);
    await served.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    served.send({ method: "notifications/initialized" });
    return served;
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  write(bytes: string | Buffer): void {
    this.wires.stdin.write(bytes);
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
    this.wires.stdin.end();
    await this.ended;
  }

  #receive(reply: Reply): void {
    if ("method" in reply) this.notified.push(reply as unknown as (typeof this.notified)[number]);
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
