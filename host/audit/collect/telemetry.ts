/**
 * One OpenTelemetry span for each call. Only this file imports `@opentelemetry/api`. Without an SDK it records nothing
 * and does not load the package. An error of a tracer does not fail the call.
 */
import { createRequire } from "node:module";

import type * as OpenTelemetry from "@opentelemetry/api";
import type { Span } from "@opentelemetry/api";

import type { FailureName } from "../../../shared/errors.ts";
import type { SpanAttributes } from "./span-attributes.ts";

/** The global under which an SDK registers itself for every copy of the package's version 1 in a process. */
const registry = Symbol.for("opentelemetry.js.api.1");
const load = createRequire(import.meta.url);

const tracerName = "memcell";
/** The name in the semantic conventions for generative AI. */
const operation = "execute_tool";

export interface CallSpan {
  /** Whether the span is recorded. */
  readonly isRecording: boolean;
  /** Calls `attributes` only if the span is recorded. */
  end(failure: FailureName | null, attributes: () => SpanAttributes): void;
}

/** Starts a child of the span that is active where the call is made. */
export function startCallSpan(tool: string | null): CallSpan {
  if (!(registry in globalThis)) return unseen;
  const span = guarded(() => {
    const { trace, SpanKind } = api();
    return trace.getTracer(tracerName).startSpan(tool === null ? operation : `${operation} ${tool}`, {
      kind: SpanKind.INTERNAL,
      attributes: { "gen_ai.operation.name": operation, ...(tool !== null && { "gen_ai.tool.name": tool }) },
    });
  });
  const isRecording = guarded(() => span?.isRecording()) === true;
  return {
    isRecording,
    end: (failure, attributes) => {
      if (isRecording && span) guarded(() => describe(span, failure, attributes()));
      guarded(() => span?.end());
    },
  };
}

function describe(span: Span, failure: FailureName | null, attributes: SpanAttributes): void {
  span.setAttributes(attributes);
  if (failure === null) return;
  span.setAttribute("error.type", failure.code);
  if (failure.of) span.setAttribute("memcell.error.of", failure.of);
  span.setStatus({ code: api().SpanStatusCode.ERROR });
}

/** A span that is not recorded. */
const unseen: CallSpan = { isRecording: false, end: () => {} };

/** Loads the package for the first call with an SDK: that takes a tenth of a process's start time. */
function api(): typeof OpenTelemetry {
  return load("@opentelemetry/api") as typeof OpenTelemetry;
}

function guarded<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
