/** The types of events: those of goa-ai, and what a program keeps in a form of its own. */
export const eventTypes = [
  "user_message",
  "assistant_message",
  "tool_call",
  "tool_result",
  "planner_note",
  "thinking",
  "opaque",
  "snapshot",
] as const;

export type EventType = (typeof eventTypes)[number];

/** Also what no reader sees: a piece of a JSON text that is too long for one event. */
export const storedTypes = [...eventTypes, "part"] as const;

export type StoredType = (typeof storedTypes)[number];

export const isEventType = (value: unknown): value is EventType => (eventTypes as readonly unknown[]).includes(value);

export const isStoredType = (value: unknown): value is StoredType =>
  (storedTypes as readonly unknown[]).includes(value);
