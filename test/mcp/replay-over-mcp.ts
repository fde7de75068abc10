/** Runs vectors through MCP: the official client, HTTP, and a token for each user. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import type { Client } from "@modelcontextprotocol/client";

import { expectedFiles, foundFiles, writeBefore } from "../conformance/vector-files.ts";
import type { FilesByFolder } from "../conformance/vector-files.ts";
import { vectorPlugin } from "../conformance/vector-plugins.ts";
import { foundStates, writeStates } from "../conformance/vector-states.ts";
import { runtimeKey } from "../conformance/vector.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";
import type { Difference } from "../polyglot/replay-vectors.ts";
import { connectClient } from "../stage/http.ts";
import type { ClientMode } from "../stage/http.ts";
import { callOverMcp } from "./called-over-mcp.ts";
import type { Hosted, VectorHost } from "./vector-host.ts";

export class McpReplay implements AsyncDisposable {
  readonly #host: VectorHost;
  readonly #folder: string;
  readonly #mode: ClientMode;
  readonly #clients = new Map<string, Promise<Client>>();

  /** `folder` is empty and used by this replay only. */
  constructor(host: VectorHost, folder: string, mode: ClientMode) {
    this.#host = host;
    this.#folder = folder;
    this.#mode = mode;
  }

  /** Runs one vector and compares every answer and every byte of the users' files and of the stores. */
  async run(vector: Vector): Promise<Difference[]> {
    const dataDir = this.#dataDirOf(vector);
    mkdirSync(dataDir, { recursive: true });
    await this.#host.renew(this.#hosted(vector));
    // Keeps the folder itself, because the host can have it open.
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true });
    writeBefore(dataDir, vector);
    writeStates(dataDir, vector.storesBefore);
    const differences: Difference[] = [];
    for (const [at, call] of vector.calls.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- a call builds on the files of those before it
      const found = await this.call(vector, call);
      if (!isDeepStrictEqual(found, call.result)) {
        differences.push({ at: `call ${at + 1}`, expected: call.result, found });
      }
    }
    const expected = expectedFiles(vector);
    const found = withoutNew(foundFiles(dataDir), expected);
    if (!isDeepStrictEqual(found, expected)) differences.push({ at: "files", expected, found });
    const [states, foundNow] = [vector.storesAfter ?? {}, foundStates(dataDir)];
    if (!isDeepStrictEqual(foundNow, states)) differences.push({ at: "stores", expected: states, found: foundNow });
    return differences;
  }

  /** Makes one call of a vector, for the user that it names. */
  async call(vector: Vector, { tool, input, context: { userId = "", epochMs } }: VectorCall): Promise<unknown> {
    const url = await this.#host.urlOf(this.#hosted(vector), epochMs);
    return callOverMcp(await this.#clientFor(url, userId), tool, input);
  }

  #hosted(vector: Vector): Hosted {
    const { plugin = "user-memory", limits = {} } = vector;
    return { plugin: vectorPlugin(plugin, this.#folder), limits, dataDir: this.#dataDirOf(vector) };
  }

  #dataDirOf(vector: Vector): string {
    return join(this.#folder, encodeURIComponent(runtimeKey(vector)));
  }

  #clientFor(url: string, userId: string): Promise<Client> {
    const key = JSON.stringify([url, userId]);
    const client = this.#clients.get(key) ?? this.#connect(url, userId);
    this.#clients.set(key, client);
    return client;
  }

  /** Lists the tools, so that the client validates answers against their schemas. */
  async #connect(url: string, userId: string): Promise<Client> {
    const client = await connectClient(url, await this.#host.issuer.token(userId), this.#mode);
    await client.listTools();
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clients = await Promise.allSettled(this.#clients.values());
    await Promise.all(clients.map(async (each) => each.status === "fulfilled" && (await each.value.close())));
  }
}

/** A session is a run: what it has read of shared stores is on record in its user's folder, which is perhaps made for it. */
function withoutNew(found: FilesByFolder, expected: FilesByFolder): FilesByFolder {
  const isMeant = ([name, files]: [string, object]): boolean => name in expected || Object.keys(files).length > 0;
  return Object.fromEntries(Object.entries(found).filter(isMeant));
}
