/** One of many clients of a server: it has its own entries, and knows the right answer of each call. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface LoadReport {
  readonly calls: number;
  /** Answers with `BUSY`: these calls did nothing. */
  readonly busy: number;
  /** Acknowledged changes. */
  readonly changes: number;
  /** Faults; at most a few of each client. */
  readonly faults: readonly string[];
  /** The present body of each entry, by name. */
  readonly bodies: Readonly<Record<string, string>>;
}

interface ToolAnswer {
  readonly isError?: boolean | undefined;
  readonly structuredContent?: unknown;
  readonly content?: unknown;
  readonly _meta?: unknown;
}

const steps = ["upsert", "read", "upsert", "upsert", "read", "upsert", "delete", "upsert"] as const;
const entriesCount = 3;
const faultsMax = 5;

export class LoadClient {
  readonly #id: string;
  readonly #client: Client;
  readonly #bodies = new Map<string, string>();
  readonly #faults: string[] = [];
  #calls = 0;
  #busy = 0;
  #changes = 0;

  /** `isModern`: the MCP revision without sessions; otherwise that of 2025, with a session. */
  constructor(id: string, isModern: boolean) {
    this.#id = id;
    const mode = isModern ? { pin: "2026-07-28" } : "legacy";
    this.#client = new Client({ name: "load", version: "1" }, { versionNegotiation: { mode } });
  }

  async connect(url: string, token: string): Promise<void> {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await this.#client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  }

  /** Makes one call after the other until `untilMs`. */
  async callUntil(untilMs: number): Promise<LoadReport> {
    while (performance.now() < untilMs && this.#faults.length < faultsMax) {
      const step = steps[this.#calls % steps.length] ?? "read";
      const name = `${this.#id}-${Math.floor(this.#calls / steps.length) % entriesCount}`;
      await this.#perform(step, name).catch((error: unknown) => this.#fault(`${step}: ${String(error)}`));
      this.#calls++;
    }
    const counts = { calls: this.#calls, busy: this.#busy, changes: this.#changes };
    return { ...counts, faults: this.#faults, bodies: Object.fromEntries(this.#bodies) };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #perform(step: (typeof steps)[number], name: string): Promise<void> {
    const known = this.#bodies.get(name);
    if (step === "upsert") {
      const body = `${this.#id}, call ${this.#calls}\n`.repeat(10);
      const input = { action: "upsert", name, type: "project", description: `of ${this.#id}`, body };
      const data = await this.#call("UpdateUserMemory", input, null);
      if (data === null) return;
      const outcome = known === undefined ? "created" : "replaced";
      if (data["outcome"] !== outcome) this.#fault(`${name} was ${String(data["outcome"])}, expected ${outcome}`);
      this.#bodies.set(name, body);
      this.#changes++;
    } else if (step === "delete") {
      const missing = known === undefined ? "ENTRY_NOT_FOUND" : null;
      if ((await this.#call("UpdateUserMemory", { action: "delete", name }, missing)) === null) return;
      this.#bodies.delete(name);
      this.#changes++;
    } else {
      const data = await this.#call("ReadUserMemory", { name }, known === undefined ? "ENTRY_NOT_FOUND" : null);
      if (data !== null && data["body"] !== known) this.#fault(`${name} does not hold what was acknowledged`);
    }
  }

  /** Returns the data of a success; `null` for `BUSY` and for the expected error code. */
  async #call(tool: string, input: object, rightCode: string | null): Promise<Record<string, unknown> | null> {
    const answer: ToolAnswer = await this.#client.callTool({ name: tool, arguments: { ...input } });
    if (!answer.isError) {
      if (rightCode !== null) this.#fault(`${tool} succeeded, expected ${rightCode}`);
      return answer.structuredContent as Record<string, unknown>;
    }
    const code = (answer._meta as { "memcell/error"?: { code?: string } } | undefined)?.["memcell/error"]?.code;
    if (code === "BUSY") this.#busy++;
    else if (code !== rightCode) this.#fault(`${tool}: ${JSON.stringify(answer.content)}`);
    return null;
  }

  #fault(text: string): void {
    if (this.#faults.length < faultsMax) this.#faults.push(`${this.#id}, call ${this.#calls}: ${text}`);
  }
}
