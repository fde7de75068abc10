/**
 * One OpenTelemetry span for each call. Sole importer of `@opentelemetry/api`: without an SDK nothing is recorded,
 * nothing costs anything, and the package is not even loaded. What a tracer throws is not a call's fault and does not
 * end it.
 */
import { createRequire } from "node:module";

import type * as OpenTelemetry from "@opentelemetry/api";
import type { Span } from "@opentelemetry/api";

import type { FailureName } from "../../../shared/errors.ts";
import type { SpanAttributes } from "./span-attributes.ts";

/** Where an SDK registers what it provides, for every copy of version 1 of the package in a process. */
const registry = Symbol.for("opentelemetry.js.api.1");
const load = createRequire(import.meta.url);

const tracerName = "memcell";
/** By the semantic conventions for generative AI. */
const operation = "execute_tool";

export interface CallSpan {
  /** Whether somebody wants to know. */
  readonly isRecording: boolean;
  /** `attributes` is not asked when nobody wants to know. */
  end(failure: FailureName | null, attributes: () => SpanAttributes): void;
}

/** A child of the span that is active where the call is made. */
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

/** Nobody wants to know. */
const unseen: CallSpan = { isRecording: false, end: () => {} };

/** Loaded by the first call that somebody wants to know of: it takes a tenth of what a process needs to start. */
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
