/**
 * What a runtime counts and times, as OpenTelemetry metrics. No name in them comes from outside: a tool is named only if
 * it is loaded, and there are no users, paths or texts.
 */
import type { FailureName } from "../../../shared/errors.ts";
import { auditLimits } from "../../../shared/limits.ts";
import type { RefusedEntry } from "../audit-record.ts";
import { guarded, instrumentationName, openTelemetry } from "./open-telemetry.ts";
import type { Counter, Histogram, Meter, MeterProvider, UpDownCounter } from "./open-telemetry.ts";

/** From a read in memory to the longest wait. In seconds, as Prometheus expects. */
const boundariesS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface EndedCall {
  /** `null` unless a loaded plugin has it. */
  readonly tool: string | null;
  readonly failure: FailureName | null;
  readonly durationMs: number;
  /** Until its guest began. `null` if none did. */
  readonly waitMs: number | null;
  readonly guestMs: number;
}

/** A call or an operation that waits, and then runs. Each may be called twice. */
export interface CountedPlace {
  begins(): void;
  ends(): void;
}

interface Instruments {
  readonly calls: Counter;
  readonly waiting: UpDownCounter;
  readonly running: UpDownCounter;
  readonly durationS: Histogram;
  readonly waitS: Histogram;
  readonly guestS: Histogram;
  readonly commitS: Histogram;
  readonly refusals: Counter;
  readonly threads: UpDownCounter;
}

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

  admitted(): CountedPlace {
    if (this.#instruments === null) return uncounted;
    const { waiting, running } = this.#instruments;
    let place = move(undefined, waiting);
    return {
      begins: () => {
        if (place === waiting) place = move(place, running);
      },
      ends: () => {
        place = move(place);
      },
    };
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

/** Counts one less in one place and one more in another. Returns the latter. */
function move(from: UpDownCounter | undefined, to?: UpDownCounter): UpDownCounter | undefined {
  guarded(() => from?.add(-1));
  guarded(() => to?.add(1));
  return to;
}

const uncounted: CountedPlace = { begins: () => {}, ends: () => {} };

function instrumentsOf(meter: Meter): Instruments {
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
