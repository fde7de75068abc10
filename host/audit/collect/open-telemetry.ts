/**
 * What a runtime tells OpenTelemetry: metrics of what it counts and times, and one span for each call. Only this file imports
 * `@opentelemetry/api`, and it loads the package when there is an SDK. No name in a metric comes from outside: a tool is named
 * only if it is loaded, and there are no users, paths or texts.
 */
import { createRequire } from "node:module";

import type * as OpenTelemetry from "@opentelemetry/api";
import type { Histogram, Meter, MeterProvider, Span, UpDownCounter } from "@opentelemetry/api";

import type { FailureName } from "../../../shared/errors.ts";
import { auditLimits, spanLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import type { CallEntry, RefusedEntry } from "../audit-record.ts";

export type { MeterProvider } from "@opentelemetry/api";

/** The global under which an SDK registers itself for every copy of the package's version 1 in a process. */
const registry = Symbol.for("opentelemetry.js.api.1");
const load = createRequire(import.meta.url);

/** The name of memcell's tracer and meter. */
const instrumentationName = "memcell";

/** `null` without an SDK. Loading the package takes a tenth of a process's start time. */
function openTelemetry(): typeof OpenTelemetry | null {
  return registry in globalThis ? (load("@opentelemetry/api") as typeof OpenTelemetry) : null;
}

/** An SDK's error must not fail a call. */
function guarded<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** From a read in memory to the longest wait. In seconds, as Prometheus expects. */
const boundariesS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface EndedCall {
  /** `null` unless a loaded plugin has it. */
  readonly tool: string | null;
  readonly failure: FailureName | null;
  readonly durationMs: number;
  /** Until its guest began. `null` if none did. */
  readonly waitMs: number | null;
  readonly guestMs: number;
}

type Instruments = ReturnType<typeof instrumentsOf>;

export class Measures {
  readonly #instruments: Instruments | null;
  readonly #refusalKinds = new Set<string>();
  #threads = 0;

  /** `undefined`: the provider of an SDK that is registered now, if there is one. */
  constructor(provider: MeterProvider | undefined) {
    const chosen = provider ?? guarded(() => openTelemetry()?.metrics.getMeterProvider());
    this.#instruments = guarded(() => chosen && instrumentsOf(chosen.getMeter(instrumentationName))) ?? null;
  }

  callEnded({ tool, failure, durationMs, waitMs, guestMs }: EndedCall): void {
    this.#add(({ calls, durationS, waitS, guestS }) => {
      const of = { tool: tool ?? "unknown" };
      calls.add(1, { ...of, outcome: failure === null ? "ok" : (failure.of ?? failure.code) });
      durationS.record(durationMs / 1000, of);
      if (waitMs === null) return;
      waitS.record(waitMs / 1000, of);
      guestS.record(guestMs / 1000, of);
    });
  }

  /** Counts a call or an operation that waits, and then runs. Each may be called twice. */
  admitted(): Readonly<Record<"begins" | "ends", () => void>> {
    const { waiting = null, running = null } = this.#instruments ?? {};
    let place: UpDownCounter | null = null;
    const move = (to: UpDownCounter | null): void => {
      guarded(() => place?.add(-1));
      guarded(() => to?.add(1));
      place = to;
    };
    move(waiting);
    return { begins: () => place === waiting && move(running), ends: () => move(null) };
  }

  committed(durationMs: number): void {
    this.#add(({ commitS }) => commitS.record(durationMs / 1000));
  }

  refused({ surface, reason }: Pick<RefusedEntry, "surface" | "reason">): void {
    this.#add(({ refusals }) => {
      const kind = `${surface} ${reason}`;
      if (this.#refusalKinds.size < auditLimits.refusalKindsMax) this.#refusalKinds.add(kind);
      refusals.add(1, this.#refusalKinds.has(kind) ? { surface, reason } : { surface: "others", reason: "others" });
    });
  }

  /** The number of threads is now this. */
  threads(count: number): void {
    const change = count - this.#threads;
    this.#threads = count;
    if (change !== 0) this.#add(({ threads }) => threads.add(change));
  }

  #add(work: (instruments: Instruments) => void): void {
    const instruments = this.#instruments;
    if (instruments !== null) guarded(() => work(instruments));
  }
}

function instrumentsOf(meter: Meter) {
  const times = (name: string, description: string): Histogram =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: boundariesS } });
  return {
    calls: meter.createCounter("memcell.calls", { description: "Calls that have ended: ok, or with an error code" }),
    waiting: meter.createUpDownCounter("memcell.calls.waiting", { description: "Calls that wait for their turn" }),
    running: meter.createUpDownCounter("memcell.calls.running", { description: "Calls that run" }),
    durationS: times("memcell.call.duration.seconds", "How long calls took from their arrival to their end"),
    waitS: times("memcell.call.wait.duration.seconds", "How long calls waited until their guest began"),
    guestS: times("memcell.call.guest.duration.seconds", "How long the guests of calls ran"),
    commitS: times("memcell.commit.duration.seconds", "How long commits took, with the flush of each"),
    refusals: meter.createCounter("memcell.refusals", { description: "Requests refused before any tool was called" }),
    threads: meter.createUpDownCounter("memcell.threads", { description: "Threads that run guests" }),
  };
}

/** The name in the semantic conventions for generative AI. */
const spanOperation = "execute_tool";

/** A call's record, and where it is in the audit log; `null` if it is in none. */
interface RecordedCall {
  readonly entry: CallEntry;
  readonly head: ChainHead | null;
}

/** The span of a call: a child of the span that is active where the call is made. Without an SDK it records nothing. */
export class CallSpan {
  readonly isRecording: boolean;
  readonly #api = openTelemetry();
  readonly #span: Span | undefined;

  constructor(tool: string | null) {
    const name = tool === null ? spanOperation : `${spanOperation} ${tool}`;
    const attributes = { "gen_ai.operation.name": spanOperation, ...(tool !== null && { "gen_ai.tool.name": tool }) };
    const api = this.#api;
    this.#span = guarded(() =>
      api?.trace.getTracer(instrumentationName).startSpan(name, { kind: api.SpanKind.INTERNAL, attributes }),
    );
    this.isRecording = guarded(() => this.#span?.isRecording()) === true;
  }

  /** `recorded`: only of a span that is recorded. */
  end(failure: FailureName | null, recorded: RecordedCall | null): void {
    const [span, api] = [this.#span, this.#api];
    if (span === undefined || api === null) return;
    if (this.isRecording)
      guarded(() => {
        if (recorded !== null) span.setAttributes(spanAttributes(recorded));
        if (failure === null) return;
        span.setAttribute("error.type", failure.code);
        if (failure.of) span.setAttribute("memcell.error.of", failure.of);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      });
    guarded(() => span.end());
  }
}

type SpanAttributes = Record<string, string | number | boolean | string[] | number[]>;

/**
 * A call's record as the attributes of its span. Only the first paths are included. A missing file has -1 bytes. Fields
 * that are `null` in the record are left out.
 */
function spanAttributes({ entry, head }: RecordedCall): SpanAttributes {
  const { plugin, origin, reads, lists, stores = [], granted = [], writes, trashed, removed } = entry;
  const known = {
    "gen_ai.tool.call.id": entry.callId,
    "memcell.user.id": entry.userId,
    ...Object.fromEntries(Object.entries(entry.labels ?? {}).map(([name, text]) => [`memcell.label.${name}`, text])),
    "memcell.origin.class": origin?.class,
    "memcell.origin.run": origin?.run,
    "memcell.origin.turn": origin?.turn,
    "memcell.origin.source": origin?.source,
    "memcell.origin.exposed_to": origin?.exposedTo && [...origin.exposedTo],
    "memcell.plugin.name": plugin?.name,
    "memcell.plugin.version": plugin?.version,
    "memcell.plugin.sha256": plugin?.sha256,
    // Copies, because the record shares these lists with the tool's grant, and a span processor could change them.
    "memcell.scopes": [...entry.scopes],
    "memcell.rights": [...entry.rights],
    "memcell.mounted": entry.mounted,
    ...columns("memcell.reads", reads, (file) => ({ path: below(file), bytes: file.bytes ?? -1 })),
    ...columns("memcell.lists", lists, ({ scope, prefix, files }) => ({ prefix: `${scope}/${prefix}`, files })),
    ...columns("memcell.stores", stores, ({ store, access, level }) => ({ id: store, access, level: level ?? "" })),
    ...columns("memcell.granted", granted, ({ store, grantee, level }) => ({ id: store, grantee, level: level ?? "" })),
    ...columns("memcell.writes", writes, (file) => ({ path: below(file), bytes: file.bytes })),
    ...columns("memcell.trashed", trashed, (file) => ({
      path: below(file),
      bytes: file.bytes,
      trashed: `${file.scope}/${file.trashed}`,
    })),
    ...columns("memcell.removed", removed, (file) => ({ path: below(file), bytes: file.bytes })),
    "memcell.uses.not_shown": entry.usesNotShown,
    "memcell.uses.denied": entry.usesDenied,
    "memcell.uses.failed": entry.usesFailed,
    "memcell.changes": entry.changes,
    "memcell.fuel.polls": entry.fuelPolls,
    "memcell.duration_ms": entry.durationMs,
    "memcell.audit.seq": head?.seq,
    "memcell.audit.hash": head?.hash,
  };
  const present = Object.entries(known).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as SpanAttributes;
}

const below = ({ scope, path }: { readonly scope: string; readonly path: string }): string => `${scope}/${path}`;

/** One list for each property, all of the same length, because attributes cannot contain objects. */
function columns<Item>(
  name: string,
  items: readonly Item[],
  read: (item: Item) => Readonly<Record<string, string | number>>,
): SpanAttributes {
  const rows = items.slice(0, spanLimits.pathsMax).map(read);
  const keys = Object.keys(rows[0] ?? {});
  const lists = keys.map((key) => [`${name}.${key}`, rows.map((row) => row[key])]);
  return rows.length === 0 ? {} : Object.fromEntries([[`${name}.count`, items.length], ...lists]);
}
