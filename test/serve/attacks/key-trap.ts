import { once } from "node:events";
import { createServer } from "node:net";
import type { Server } from "node:net";
import type { AddressInfo } from "node:net";

/** An attacker's key server. It really listens and counts visits; there should be none. */
export class KeyTrap implements Disposable {
  visits = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.visits++;
      socket.destroy();
    });
  }

  static async open(): Promise<KeyTrap> {
    const server = createServer();
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    return new KeyTrap(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
