/** One OpenTelemetry span for each call. Without an SDK it records nothing. */
import type { FailureName } from "../../../shared/errors.ts";
import { guarded, instrumentationName, openTelemetry } from "./open-telemetry.ts";
import type { Span } from "./open-telemetry.ts";
import type { SpanAttributes } from "./span-attributes.ts";

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
  const api = openTelemetry();
  if (api === null) return unseen;
  const { trace, SpanKind, SpanStatusCode } = api;
  const span = guarded(() =>
    trace.getTracer(instrumentationName).startSpan(tool === null ? operation : `${operation} ${tool}`, {
      kind: SpanKind.INTERNAL,
      attributes: { "gen_ai.operation.name": operation, ...(tool !== null && { "gen_ai.tool.name": tool }) },
    }),
  );
  const isRecording = guarded(() => span?.isRecording()) === true;
  const describe = (of: Span, failure: FailureName | null, attributes: SpanAttributes): void => {
    of.setAttributes(attributes);
    if (failure === null) return;
    of.setAttribute("error.type", failure.code);
    if (failure.of) of.setAttribute("memcell.error.of", failure.of);
    of.setStatus({ code: SpanStatusCode.ERROR });
  };
  return {
    isRecording,
    end: (failure, attributes) => {
      if (isRecording && span) guarded(() => describe(span, failure, attributes()));
      guarded(() => span?.end());
    },
  };
}

/** A span that is not recorded. */
const unseen: CallSpan = { isRecording: false, end: () => {} };
