/** The types of events, as goa-ai writes them. */
export const eventTypes = [
  "user_message",
  "assistant_message",
  "tool_call",
  "tool_result",
  "planner_note",
  "thinking",
] as const;

export type EventType = (typeof eventTypes)[number];

export function isEventType(value: unknown): value is EventType {
  return (eventTypes as readonly unknown[]).includes(value);
}
