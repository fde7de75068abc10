/** OpenTelemetry's API. Only this file imports `@opentelemetry/api`, and it loads the package when there is an SDK. */
import { createRequire } from "node:module";

import type * as OpenTelemetry from "@opentelemetry/api";

export type { Counter, Histogram, Meter, MeterProvider, Span, UpDownCounter } from "@opentelemetry/api";

/** The global under which an SDK registers itself for every copy of the package's version 1 in a process. */
const registry = Symbol.for("opentelemetry.js.api.1");
const load = createRequire(import.meta.url);

/** The name of memcell's tracer and meter. */
export const instrumentationName = "memcell";

/** `null` without an SDK. Loading the package takes a tenth of a process's start time. */
export function openTelemetry(): typeof OpenTelemetry | null {
  return registry in globalThis ? (load("@opentelemetry/api") as typeof OpenTelemetry) : null;
}

/** An SDK's error must not fail a call. */
export function guarded<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
