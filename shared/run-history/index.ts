/** The public API of `memcell/run-history`. Anything that is not exported here can change without notice. */
export {
  decodeAssistantMessageData,
  decodeOpaqueData,
  decodePlannerNoteData,
  decodeSnapshotData,
  decodeThinkingData,
  decodeToolCallData,
  decodeToolResultData,
  decodeUserMessageData,
} from "./decode.ts";
export type { DecodableEvent } from "./decode.ts";
export type { DataMap } from "./data-map.ts";
export { eventTypes } from "./event-types.ts";
export type { EventType } from "./event-types.ts";
export { newEvent } from "./event.ts";
export type { Annotation, Event, EventData } from "./event.ts";
export { LosslessNumber } from "./lossless.ts";
export type { Payload } from "./payload.ts";
export {
  assistantMessageData,
  opaqueData,
  plannerNoteData,
  snapshotData,
  thinkingData,
  toolCallData,
  toolResultData,
  userMessageData,
} from "./payload-constructors.ts";
export type { Bounds } from "./payloads/bounds.ts";
export type { AssistantMessageData, UserMessageData } from "./payloads/messages.ts";
export type { OpaqueData, SnapshotData } from "./payloads/opaque.ts";
export type { PlannerNoteData } from "./payloads/planner-note.ts";
export type { RetryHint } from "./payloads/retry-hint.ts";
export type { ThinkingData } from "./payloads/thinking.ts";
export type { ToolCallData } from "./payloads/tool-call.ts";
export type { ToolResultData } from "./payloads/tool-result.ts";
export { Reader } from "./reader.ts";
export { RunHistory } from "./run-history.ts";
export type { AppendOptions, LoadOptions, ListedRun, RunHistoryContext, RunHistoryRuntime } from "./run-history.ts";
export { RunHistoryError } from "./run-history-error.ts";
export type { Snapshot, SnapshotMeta } from "./snapshot.ts";
export { toolCallInput } from "./tool-call-input.ts";
export type { GivenEvent } from "./wire.ts";
export type { Labels } from "./wire-event.ts";
