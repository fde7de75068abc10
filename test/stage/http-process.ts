/** `memcell serve --http` as a process, and the lines on its standard error. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import { askServer } from "./http-requests.ts";
import type { Answer, Asked } from "./http-requests.ts";
import { program } from "./serve-lines.ts";
import { audience, issuer } from "./token-issuer.ts";
import type { TokenIssuer } from "./token-issuer.ts";

interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly lines: readonly string[];
}

export interface ProcessOptions {
  /** Default: that of the tests. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: yes. */
  readonly isHttp?: boolean;
}

export class HttpProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #lines: string[] = [];
  readonly #news = new EventEmitter();
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<Ending>;

  /** Adds `args` to `memcell serve --http --port 0`. */
  constructor(args: readonly string[], { cwd, env = {}, isHttp = true }: ProcessOptions = {}) {
    const all = [program, "serve", ...(isHttp ? ["--http", "--port", "0"] : []), ...args];
    this.#child = spawn(process.execPath, all, {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface({ input: this.#child.stderr }).on("line", (line) => {
      this.#lines.push(line);
      this.#news.emit("line");
    });
    const closed = once(this.#child, "close").finally(() => this.#news.emit("line"));
    this.ended = Promise.all([closed, text(this.#child.stdout)]).then(([[code], stdout]) => ({
      code: code as number | null,
      stdout,
      lines: this.#lines,
    }));
  }

  /** The URL of MCP. Rejects when the server ends without listening. */
  async url(): Promise<string> {
    const [, url = ""] = await this.line(/^memcell serve: listening on (http:\S+)$/);
    return url;
  }

  async port(): Promise<number> {
    return Number(new URL(await this.url()).port);
  }

  async ask(asked: Asked): Promise<Answer> {
    return await askServer(await this.port(), { path: "/mcp", ...asked });
  }

  /** Resolves with the first line that matches. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      for (const each of this.#lines) {
        const found = pattern.exec(each);
        if (found) return found;
      }
      if (this.#child.exitCode !== null) throw new Error(`The server ended: ${this.#lines.join("\n")}`);
      await once(this.#news, "line");
    }
  }

  /** The lines of standard error so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  async end(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<Ending> {
    this.#child.kill(signal);
    return await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** Flags for access with a token of this issuer. */
export function tokenFlags({ jwksUrl }: Pick<TokenIssuer, "jwksUrl">): string[] {
  return ["--issuer", issuer, "--audience", audience, "--jwks", jwksUrl];
}
