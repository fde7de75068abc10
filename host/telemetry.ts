/**
 * One OpenTelemetry span for each call. Sole importer of `@opentelemetry/api`: without an SDK nothing is recorded and
 * nothing costs anything. What a tracer throws is not a call's fault and does not end it.
 */
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Span } from "@opentelemetry/api";

import type { ErrorCode } from "../shared/errors.ts";
import type { SpanAttributes } from "./audit/span-attributes.ts";

const tracerName = "memcell";
/** By the semantic conventions for generative AI. */
const operation = "execute_tool";

export interface CallSpan {
  /** Whether somebody wants to know. */
  readonly isRecording: boolean;
  /** `attributes` is not asked when nobody wants to know. */
  end(code: ErrorCode | null, attributes: () => SpanAttributes): void;
}

/** A child of the span that is active where the call is made. */
export function startCallSpan(tool: string | null): CallSpan {
  const span = guarded(() =>
    trace.getTracer(tracerName).startSpan(tool === null ? operation : `${operation} ${tool}`, {
      kind: SpanKind.INTERNAL,
      attributes: { "gen_ai.operation.name": operation, ...(tool !== null && { "gen_ai.tool.name": tool }) },
    }),
  );
  const isRecording = guarded(() => span?.isRecording()) === true;
  return {
    isRecording,
    end: (code, attributes) => {
      if (isRecording && span) guarded(() => describe(span, code, attributes()));
      guarded(() => span?.end());
    },
  };
}

function describe(span: Span, code: ErrorCode | null, attributes: SpanAttributes): void {
  span.setAttributes(attributes);
  if (code === null) return;
  span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function guarded<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
