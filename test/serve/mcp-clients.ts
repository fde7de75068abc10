/** The official clients, each connected to its own process: the current SDK in both revisions, and the previous SDK. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { program } from "./serve-process.ts";

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

export async function connect(kind: ClientKind, args: readonly string[]): Promise<Connected> {
  const process_ = { command: process.execPath, args: [program, "serve", ...args] };
  const changes = new Changes();
  if (kind === "former SDK") {
    const former = new FormerClient({ name: "former", version: "1" });
    former.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changes.updated(params.uri));
    former.setNotificationHandler(ResourceListChangedNotificationSchema, () => changes.listChanged());
    await former.connect(new FormerTransport(process_));
    return connected(former as unknown as Client, changes);
  }
  const isModern = kind === "2026-07-28";
  const client = new Client(
    { name: "present", version: "2" },
    isModern ? { versionNegotiation: { mode: "auto" } } : {},
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => changes.updated(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => changes.listChanged());
  await client.connect(new StdioClientTransport(process_));
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
