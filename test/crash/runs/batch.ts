/** The batches that writers append: one to five small events. Many of their times are equal or out of order. */

/** One attempt of a writer to append its batch with this number. */
export interface Append {
  readonly writer: string;
  /** From 1. */
  readonly number: number;
  /** From 1: how often the writer's process was started. Every attempt has the same append id. */
  readonly attempt: number;
}

/** The run that all writers append to. */
export const sharedRun = { userId: "alice", agentId: "planner", runId: "shared" } as const;

export interface BatchEvent {
  readonly type: string;
  /** Missing: the call's time. */
  readonly timestamp?: string;
  readonly data: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The labels tell which append an event is from, its place in the batch, and which attempt has stored it. */
export function batchOf(append: Append): BatchEvent[] {
  const { writer, number, attempt } = append;
  const size = 1 + ((number * 3 + writer.length) % 5);
  return Array.from({ length: size }, (_, at) => {
    const timestamp = timestampOf(number, at);
    return {
      type: "planner_note",
      ...(timestamp !== null && { timestamp }),
      data: JSON.stringify({ note: `event ${at + 1} of ${size} of batch ${number} of ${writer}` }),
      labels: { writer, number: `${number}`, at: `${at + 1}`, attempt: `${attempt}` },
    };
  });
}

/** Every third event has none. The others are within one minute, which all writers go through again and again. */
function timestampOf(number: number, at: number): string | null {
  const count = number * 7 + at;
  if (count % 3 === 0) return null;
  const second = `${(count * 11) % 60}`.padStart(2, "0");
  return `2026-01-01T00:00:${second}${["", ".5", ".000000001", ".123456789"][count % 4]}Z`;
}
