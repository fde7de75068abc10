/** Runs vectors through MCP: the official client, HTTP, a token for each user, and a settable clock. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { ProtocolError } from "@modelcontextprotocol/client";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { createRuntime, fileStore } from "memcell";
import type { Runtime } from "memcell";

import { RenewedStore } from "../conformance/renewed-store.ts";
import { expectedFiles, foundFiles, writeBefore } from "../conformance/vector-files.ts";
import type { FilesByFolder } from "../conformance/vector-files.ts";
import { vectorPlugin } from "../conformance/vector-plugins.ts";
import { foundStates, writeStates } from "../conformance/vector-states.ts";
import { runtimeKey } from "../conformance/vector.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";
import type { Difference } from "../polyglot/replay-vectors.ts";
import { serveRuntime } from "../stage/http.ts";
import type { ClientMode, ServedHttp } from "../stage/http.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { policyFor } from "../support/policy-for.ts";

/** The server of a plugin with some limits. */
interface Served {
  readonly dataDir: string;
  readonly runtime: Runtime;
  readonly server: ServedHttp;
  readonly store: RenewedStore;
  /** By user. */
  readonly clients: Map<string, Promise<Client>>;
}

export class McpReplay implements AsyncDisposable {
  readonly #issuer: TokenIssuer;
  readonly #folder: string;
  readonly #mode: ClientMode;
  readonly #served = new Map<string, Promise<Served>>();
  #clockMs = 0;

  private constructor(issuer: TokenIssuer, folder: string, mode: ClientMode) {
    this.#issuer = issuer;
    this.#folder = folder;
    this.#mode = mode;
  }

  /** `folder` is empty and used by this replay only. */
  static async open(folder: string, mode: ClientMode): Promise<McpReplay> {
    return new McpReplay(await TokenIssuer.start(), folder, mode);
  }

  /** Runs one vector and compares every answer and every byte of the users' files and of the stores. */
  async run(vector: Vector): Promise<Difference[]> {
    const { dataDir, store } = await this.#servedFor(vector);
    await store.renew(fileStore({ dir: dataDir }));
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
    const { server, clients } = await this.#servedFor(vector);
    this.#clockMs = epochMs;
    const client = clients.get(userId) ?? this.#connect(server, userId);
    clients.set(userId, client);
    return callOverMcp(await client, tool, input);
  }

  /** Lists the tools, so that the client validates answers against their schemas. */
  async #connect(server: ServedHttp, userId: string): Promise<Client> {
    const client = await server.client(await this.#issuer.token(userId), this.#mode);
    await client.listTools();
    return client;
  }

  #servedFor(vector: Vector): Promise<Served> {
    const key = runtimeKey(vector);
    const served = this.#served.get(key) ?? this.#serve(vector, join(this.#folder, encodeURIComponent(key)));
    this.#served.set(key, served);
    return served;
  }

  async #serve({ plugin = "user-memory", limits = {} }: Vector, dataDir: string): Promise<Served> {
    mkdirSync(dataDir, { recursive: true });
    const plugins = [vectorPlugin(plugin, this.#folder)];
    const store = new RenewedStore(fileStore({ dir: dataDir }));
    const clock = (): number => this.#clockMs;
    const policy = policyFor(plugins, limits);
    const runtime = await createRuntime({ store: store.definition, plugins, policy, clock, threadsMax: 1 });
    return { dataDir, runtime, server: await serveRuntime(runtime, this.#issuer), store, clients: new Map() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { runtime, server } of await Promise.all(this.#served.values())) {
      await server[Symbol.asyncDispose]();
      await runtime.close();
    }
    await this.#issuer[Symbol.asyncDispose]();
  }
}

/** A session is a run: what it has read of shared stores is on record in its user's folder, which is perhaps made for it. */
function withoutNew(found: FilesByFolder, expected: FilesByFolder): FilesByFolder {
  const isMeant = ([name, files]: [string, object]): boolean => name in expected || Object.keys(files).length > 0;
  return Object.fromEntries(Object.entries(found).filter(isMeant));
}

/** A reported failure: the same as text for a model and here for programs. Its code and issues are a vector's. */
interface ToldFailure {
  readonly of?: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly blame: string;
}

/** Returns the call's result envelope. Throws if the answer contradicts itself. */
async function callOverMcp(client: Client, tool: string, input: unknown): Promise<unknown> {
  try {
    const result = await client.callTool({ name: tool, arguments: input as Record<string, unknown> });
    return envelopeOf(result, client.getProtocolEra() === "modern");
  } catch (error) {
    const { code } = ((error as ProtocolError).data ?? {}) as { code?: unknown };
    if (!(error instanceof ProtocolError) || code !== "TOOL_UNKNOWN") throw error;
    return { ok: false, error: { code, message: error.message } };
  }
}

function envelopeOf({ content, structuredContent, isError, _meta }: CallToolResult, isModern: boolean): unknown {
  const [message, json, ...more] = content.map((each) => (each.type === "text" ? each.text : each.type));
  if (message === undefined || json === undefined || more.length > 0) {
    throw new Error(`An answer has ${content.length} parts, expected: a sentence, and its data as JSON`);
  }
  if (!isError) {
    const data = JSON.parse(json) as unknown;
    // The 2025 protocol accepts objects only, so other data is wrapped unless the tool's schema promises an object.
    const isPlain = isModern || isDeepStrictEqual(structuredContent, data);
    same(structuredContent, isPlain ? data : { result: data });
    return { ok: true, message, data };
  }
  const { blame: _blame, ...failure } = (_meta as { "memcell/error": ToldFailure })["memcell/error"];
  same(JSON.parse(json), failure);
  same(message, failure.message);
  same(structuredContent, undefined);
  const { of: _of, retryable: _retryable, ...error } = failure;
  return { ok: false, error };
}

function same(one: unknown, other: unknown): void {
  if (!isDeepStrictEqual(one, other)) {
    throw new Error(`An answer tells two things: ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
  }
}
