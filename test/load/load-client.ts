/** One of many clients of a server: it has its own entry, and knows the right answer of each call. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface LoadReport {
  readonly id: string;
  /** Answers with `BUSY`: these calls did nothing. */
  busy: number;
  calls: number;
  /** Acknowledged changes. */
  changes: number;
  /** Wrong answers; at most a few of each client. */
  readonly faults: string[];
  /** The present body of its entry; `null` if it has none. */
  body: string | null;
}

interface Answer {
  readonly isError?: boolean | undefined;
  readonly structuredContent?: { readonly body?: string; readonly outcome?: string } | undefined;
  readonly _meta?: { readonly "memcell/error"?: { readonly code?: string } } | undefined;
}

const steps = ["upsert", "read", "upsert", "upsert", "read", "upsert", "delete", "read"] as const;
const faultsMax = 5;

export class LoadClient {
  readonly report: LoadReport;
  readonly #client: Client;

  /** `isModern`: the MCP revision of 2026; otherwise that of 2025. */
  constructor(id: string, isModern: boolean) {
    this.report = { id, busy: 0, calls: 0, changes: 0, faults: [], body: null };
    const mode = isModern ? { pin: "2026-07-28" } : "legacy";
    this.#client = new Client({ name: "load", version: "1" }, { versionNegotiation: { mode } });
  }

  async connect(url: string, token: string): Promise<void> {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await this.#client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  }

  /** Makes one call after the other until `untilMs`. */
  async callUntil(untilMs: number): Promise<void> {
    const { report } = this;
    for (; performance.now() < untilMs && report.faults.length < faultsMax; report.calls++) {
      const step = steps[report.calls % steps.length] ?? "read";
      await this.#take(step).catch((error: unknown) => report.faults.push(`${report.id}: ${step}: ${String(error)}`));
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #take(step: (typeof steps)[number]): Promise<void> {
    const { report } = this;
    const { id: name, body: before } = report;
    const body = `${name}, call ${report.calls}\n`.repeat(10);
    const upsert = { action: "upsert", name, type: "project", description: `of ${name}`, body };
    const input = { upsert, delete: { action: "delete", name }, read: { name } }[step];
    const tool = step === "read" ? "ReadUserMemory" : "UpdateUserMemory";
    const answer = (await this.#client.callTool({ name: tool, arguments: input })) as Answer;
    const code = answer._meta?.["memcell/error"]?.code;
    if (code === "BUSY") {
      report.busy++;
      return;
    }
    const wantedCode = step !== "upsert" && before === null ? "ENTRY_NOT_FOUND" : undefined;
    const wanted = {
      upsert: { outcome: before === null ? "created" : "replaced" },
      delete: { outcome: "deleted" },
      read: { body: before },
    }[step];
    const given = answer.structuredContent ?? {};
    const isRight =
      answer.isError === true || Object.entries(wanted).every(([key, value]) => Reflect.get(given, key) === value);
    if (code !== wantedCode || !isRight) report.faults.push(`${name}: ${step}: ${JSON.stringify(answer)}`);
    if (answer.isError === true || step === "read") return;
    report.body = step === "upsert" ? body : null;
    report.changes++;
  }
}
