/** Stands between hosts and a server, and cuts their connections before a message that a test chooses. */
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { join } from "node:path";

import { temporaryFolder } from "../temporary-folder.ts";

/** Who sends a message. */
export type Side = "host" | "server";

const socketIn = (folder: string): string => join(folder, ".s.PGSQL.5432");

export class CuttingProxy implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  #armed: { readonly side: Side; left: number } | null = null;
  /** How often it has cut a connection. */
  cuts = 0;
  /** Whether a host has told the server to commit since the last `arm`, and the server has heard it. */
  hasCommit = false;

  /** `target`: the address of a server, as hosts have it. */
  static async open(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(target.replace(/@\//, "@localhost/")).searchParams.get("host") ?? "");
    proxy.#listener.listen(socketIn(proxy.#folder.path));
    await once(proxy.#listener, "listening");
    return proxy;
  }

  private constructor(serverFolder: string) {
    this.#listener = createServer((host) => {
      const server = createConnection(socketIn(serverFolder));
      const cut = (): void => {
        for (const socket of [host, server]) socket.destroy();
      };
      for (const socket of [host, server]) {
        this.#sockets.add(socket);
        // An error comes before the end, which is all that counts.
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          cut();
        });
      }
      this.#forward("host", new MessageReader(true), { from: host, to: server, cut });
      this.#forward("server", new MessageReader(false), { from: server, to: host, cut });
    });
  }

  /** The address of the same database by way of the proxy. */
  urlOf(url: string): string {
    return url.replace(/host=[^&]*/, `host=${encodeURIComponent(this.#folder.path)}`);
  }

  /** Cuts one connection before the side's message number `at`, counted from now on over all connections. */
  arm(side: Side, at: number): void {
    this.#armed = { side, left: at };
    this.hasCommit = false;
  }

  disarm(): void {
    this.#armed = null;
  }

  /** Nothing goes through the present connections any more. Nobody is told. */
  silence(): void {
    for (const socket of this.#sockets) socket.removeAllListeners("data");
  }

  /** Cuts all connections now. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll();
    this.#listener.close();
    await once(this.#listener, "close");
    this.#folder[Symbol.dispose]();
  }

  #forward(side: Side, reader: MessageReader, { from, to, cut }: Line): void {
    from.on("data", (bytes: Buffer) => {
      for (const message of reader.take(bytes)) {
        if (from.destroyed || this.#isCutBefore(side)) {
          cut();
          return;
        }
        this.hasCommit ||= side === "host" && message.includes("COMMIT\0");
        to.write(message);
      }
    });
  }

  #isCutBefore(side: Side): boolean {
    if (this.#armed?.side !== side) return false;
    this.#armed.left--;
    if (this.#armed.left > 0) return false;
    this.#armed = null;
    this.cuts++;
    return true;
  }
}

interface Line {
  readonly from: Socket;
  readonly to: Socket;
  readonly cut: () => void;
}

/** Divides what one side of a connection sends into messages of the protocol, version 3, without encryption. */
class MessageReader {
  #isStartup: boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** The first message of a host has no type. */
  constructor(isOfHost: boolean) {
    this.#isStartup = isOfHost;
  }

  /** The messages that are complete by now. */
  take(bytes: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    for (;;) {
      const typeBytes = this.#isStartup ? 0 : 1;
      if (this.#rest.length < typeBytes + 4) return messages;
      // The length includes itself, but not the type.
      const size = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < size) return messages;
      messages.push(this.#rest.subarray(0, size));
      this.#rest = this.#rest.subarray(size);
      this.#isStartup = false;
    }
  }
}
