/** What a program passes and what it gets are its own: changing them changes nothing else. */
import {
  decodeThinkingData,
  decodeUserMessageData,
  LosslessNumber,
  newEvent,
  Reader,
  RunHistory,
  userMessageData,
} from "memcell/run-history";
import type { Event } from "memcell/run-history";
import { expect, test } from "vitest";

import { useHistory } from "./stage.ts";

const newUser = useHistory();

interface Shared {
  list: unknown[];
  number: { value: string };
}

const shared = (): Shared => ({ list: [{ a: 1 }], number: new LosslessNumber("1") });

/** Changes everything of a value that can be changed. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Uint8Array) value.fill(0);
  for (const each of Object.values(value)) spoil(each);
  if (Array.isArray(value)) value.length = 0;
  else for (const key of Object.keys(value)) if (!(value instanceof Uint8Array)) Reflect.set(value, key, "spoilt");
}

test("constructors, newEvent and toMap copy", () => {
  const structured = shared();
  const data = userMessageData({ message: "m", structured });
  spoil(structured);
  const labels: Record<string, string> = { role: "user" };
  const event = newEvent(undefined, data, labels);
  spoil(data.toMap());
  spoil(data.structured);
  labels["role"] = "spoilt";
  expect(event).toEqual({
    type: "user_message",
    timestamp: "",
    data: { message: "m", structured: shared() },
    labels: { role: "user" },
  });
});

test("decoders copy", () => {
  const event = newEvent(undefined, userMessageData({ message: "m", structured: shared() }));
  spoil(decodeUserMessageData(event));
  expect(event.data["structured"]).toEqual(shared());

  const thought = { type: "thinking", data: { redacted: Uint8Array.of(1, 2) } } as const;
  spoil(decodeThinkingData(thought));
  expect(thought.data.redacted).toEqual(Uint8Array.of(1, 2));
});

test("append takes what was passed at that moment, and each load is new", async () => {
  const { history } = newUser();
  const structured = shared();
  const event: Event = { type: "user_message", timestamp: "", data: { structured }, labels: { role: "user" } };
  const appending = history.append("agent", "run", [event, event]);
  spoil(event);
  await appending;
  const loaded = await history.load("agent", "run");
  const again = await history.load("agent", "run");
  expect(loaded.events[0]?.data["structured"]).not.toBe(loaded.events[1]?.data["structured"]);
  spoil(loaded);
  expect(again.events).toMatchObject([{ type: "user_message", labels: { role: "user" } }, {}]);
  const expected = { list: [{ a: new LosslessNumber("1") }], number: new LosslessNumber("1") };
  expect(again.events.map(({ data }) => data["structured"])).toEqual([expected, expected]);
});

test("a history keeps the context that it was made with", async () => {
  const [bob, alice] = [newUser(), newUser()];
  const ctx = { userId: bob.userId };
  const history = new RunHistory({ callAsHost: bob.call }, ctx);
  ctx.userId = alice.userId;
  await history.append("agent", "run", [newEvent(undefined, userMessageData({ message: "m" }))]);
  expect((await alice.history.load("agent", "run")).events).toEqual([]);
  expect((await history.load("agent", "run")).events).toHaveLength(1);
});

const at = (timestamp: string, message: string, type: Event["type"] = "user_message"): Event => ({
  type,
  timestamp,
  data: { message, structured: shared() },
  labels: { message },
});

test("a reader copies its snapshot, and returns copies", () => {
  const events = [at("2026-01-01T00:00:00Z", "a"), at("2026-01-01T00:00:01Z", "b")];
  const reader = new Reader({ events });
  spoil(events);
  const before = JSON.stringify(reader.events());
  expect(before).toContain('"message":"b"');
  spoil(reader.events());
  spoil(reader.filterByType("user_message"));
  spoil(reader.latest("user_message"));
  expect(JSON.stringify(reader.events())).toBe(before);
  expect(reader.latest("user_message")?.data["structured"]).toEqual(shared());
});

const messagesOf = (found: readonly Event[]) => found.map(({ data }) => data["message"]);

test("a reader has the order of time, to the nanosecond, and equal times in the order of the snapshot", () => {
  const reader = new Reader({
    events: [
      at("2026-01-01T00:00:00.000000002Z", "4"),
      at("2026-01-01T01:00:00.000000001+01:00", "2"),
      at("2026-01-01T00:00:00Z", "1", "thinking"),
      at("2026-01-01T00:00:00.000000001Z", "3"),
      at("", "0", "planner_note"),
    ],
  });
  expect(messagesOf(reader.events())).toEqual(["0", "1", "2", "3", "4"]);
  expect(messagesOf(reader.filterByType("user_message"))).toEqual(["2", "3", "4"]);
  expect(reader.latest("user_message")?.data["message"]).toBe("4");
  expect(reader.latest("tool_call")).toBeUndefined();
  expect(reader.filterByType("tool_call")).toEqual([]);
  expect(new Reader({ events: [] }).events()).toEqual([]);
});
