/** The codes of faults that an event or a request of this family can have. */
export const runHistoryCodes = [
  { code: "AGENT_ID_REQUIRED", of: "INPUT_INVALID", meaning: "The agent's id is empty." },
  { code: "RUN_ID_REQUIRED", of: "INPUT_INVALID", meaning: "The run's id is empty." },
  { code: "CURSOR_INVALID", of: "INPUT_INVALID", meaning: "The cursor is not one of this run as it is now." },
  { code: "RUN_CHANGED", of: "VERSION_CONFLICT", meaning: "Events have been appended to the run since the cursor." },
  { code: "RUN_NOT_FOUND", of: "ENTRY_NOT_FOUND", meaning: "The user has no run of this agent with this id." },
  { code: "EVENT_TYPE_MISMATCH", of: "INPUT_INVALID", meaning: "The event has another type than it is decoded as." },
  { code: "EVENT_DATA_NIL", of: "INPUT_INVALID", meaning: "The event has no data." },
  { code: "EVENT_DATA_NOT_MAP", of: "INPUT_INVALID", meaning: "The event's data is not a JSON object." },
  { code: "EVENT_FIELD_MISSING", of: "INPUT_INVALID", meaning: "The event's data lacks a field that its type needs." },
  { code: "EVENT_FIELD_INVALID", of: "INPUT_INVALID", meaning: "A field of the event's data has a wrong type." },
  { code: "JSON_TRAILING_DATA", of: "INPUT_INVALID", meaning: "A second value follows a JSON value." },
  { code: "JSON_INVALID", of: "INPUT_INVALID", meaning: "A text that must be JSON is not." },
] as const;

export type RunHistoryCode = (typeof runHistoryCodes)[number]["code"];

/** Where a fault is and what is allowed there. */
export interface FaultDetails {
  /** The field of the data, or nothing for the data as a whole. */
  readonly field?: string;
  readonly value?: unknown;
  readonly allowed?: string;
}

/** An event that does not have the form of its type. The messages are goa-ai's, word for word. */
export class EventFault extends Error {
  readonly code: RunHistoryCode;
  readonly details: FaultDetails;

  constructor(code: RunHistoryCode, message: string, details: FaultDetails = {}) {
    super(message);
    this.name = "EventFault";
    this.code = code;
    this.details = details;
  }
}
