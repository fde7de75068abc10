export interface RunEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly labels: Readonly<Record<string, string>>;
}

const found = "All that the search has found on it. ".repeat(7);

/** A tool's result, about 500 bytes as a line of a file. Each is a second later than the one before. */
export function eventAt(at: number): RunEvent {
  return {
    type: "tool_result",
    timestamp: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace(".000Z", "Z"),
    data: {
      tool_call_id: `call-${at}`,
      tool_name: "search_documents",
      preview: `Result ${at}`,
      result_json: JSON.stringify({ hits: at % 50, text: found }),
      duration: 1_000_000 + at,
    },
    labels: { step: `${at % 100}` },
  };
}

export function eventsFrom(first: number, count: number): RunEvent[] {
  return Array.from({ length: count }, (_, at) => eventAt(first + at));
}
