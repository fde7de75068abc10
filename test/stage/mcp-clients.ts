/** The official clients: the current SDK in both revisions, and the previous SDK, each connected to its own server. */
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/client";
import type { Transport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { serveHere } from "./serve-lines.ts";
import type { Wires } from "./serve-lines.ts";

export const clientKinds = ["2026-07-28", "2025-11-25", "former SDK"] as const;
export type ClientKind = (typeof clientKinds)[number];

export interface Connected extends AsyncDisposable {
  /** The previous client has the same methods. */
  readonly client: Client;
  /** Watches resources in the revision's way. */
  watch(uris: readonly string[]): Promise<void>;
  /** The URIs reported as updated until the next notification that the list has changed. */
  nextChange(): Promise<string[]>;
}

/** Connects to `memcell serve` over standard input and output, in this process unless `serve` starts another. */
export async function connect(kind: ClientKind, args: readonly string[], serve = serveHere): Promise<Connected> {
  return await connectOver(kind, new WireTransport(serve(args)));
}

export async function connectOver(kind: ClientKind, transport: Transport): Promise<Connected> {
  const changes = new Changes();
  if (kind === "former SDK") {
    const former = new FormerClient({ name: "former", version: "1" });
    former.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changes.updated(params.uri));
    former.setNotificationHandler(ResourceListChangedNotificationSchema, () => changes.listChanged());
    await former.connect(transport);
    return connected(former as unknown as Client, changes);
  }
  const isModern = kind === "2026-07-28";
  const client = new Client(
    { name: "present", version: "2" },
    isModern ? { versionNegotiation: { mode: "auto" } } : {},
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => changes.updated(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => changes.listChanged());
  await client.connect(transport);
  return connected(client, changes, isModern);
}

function connected(client: Client, changes: Changes, isModern = false): Connected {
  return {
    client,
    async watch(uris) {
      if (isModern) await client.listen({ resourceSubscriptions: [...uris], resourcesListChanged: true });
      else for (const uri of uris) await client.subscribeResource({ uri });
    },
    nextChange: () => changes.next(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

class WireTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #wires: Wires;

  constructor(wires: Wires) {
    this.#wires = wires;
  }

  async start(): Promise<void> {
    this.#wires.stderr.resume();
    const lines = createInterface({ input: this.#wires.stdout });
    lines.on("line", (line) => this.onmessage?.(JSON.parse(line)));
    lines.on("close", () => this.onclose?.());
  }

  async send(message: object): Promise<void> {
    this.#wires.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#wires.stdin.end();
    await this.#wires.ended;
  }
}

class Changes {
  #uris: string[] = [];
  readonly #told: string[][] = [];
  readonly #waiting: ((uris: string[]) => void)[] = [];

  updated(uri: string): void {
    this.#uris.push(uri);
  }

  listChanged(): void {
    this.#told.push(this.#uris);
    this.#uris = [];
    this.#hand();
  }

  next(): Promise<string[]> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#hand();
    });
  }

  #hand(): void {
    while (this.#told.length > 0 && this.#waiting.length > 0) this.#waiting.shift()?.(this.#told.shift() ?? []);
  }
}
