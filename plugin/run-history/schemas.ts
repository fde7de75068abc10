/** The inputs and outputs of the tools. */
import { eventTypes, storedTypes } from "../../shared/run-history/event-types.ts";
import * as z from "../../shared/zod.ts";
import { wholeNumber } from "../kit/inputs.ts";
import { runLimits } from "./run-limits.ts";

const { eventsMax, shownMax, shownDefault, charsMin, charsMax, charsDefault, idBytesMax, appendIdBytesMax } = runLimits;

const text = "a string";
/** An empty id has an error of its own. */
const agentId = z.described(z.string({ error: text }), `The agent's id, 1 to ${idBytesMax} UTF-8 bytes`);
const runId = z.described(z.string({ error: text }), `The run's id, 1 to ${idBytesMax} UTF-8 bytes`);

const type = z.described(z.enum(storedTypes), "What kind of event it is");
const data = z.described(
  z.string(),
  "The event's data: JSON text of an object, so that numbers of any size keep their digits",
);
const labels = z.record(z.string(), z.string());

const givenEvent = z.strictObject({
  type,
  timestamp: z.optional(
    z.described(z.string(), "When it happened, RFC 3339 with up to nine digits of a second. Default: the call's time"),
  ),
  data,
  labels: z.optional(z.described(labels, "Texts to find and filter it by. Default: none")),
});

const appendId = z.optional(
  z.described(
    z.string({ error: text }),
    `Names this append, 1 to ${appendIdBytesMax} UTF-8 bytes: a repeated append with it stores nothing and answers ` +
      "as the first did",
  ),
);

const unchangedSince = z.optional(
  z.described(
    z.string({ error: text }),
    "A cursor of a load: appends only if nothing has been appended to the run since, but for parts of a text. " +
      "Default: always",
  ),
);

/** A whole number within bounds, with a description. */
/* @__NO_SIDE_EFFECTS__ */
const bounded = (least: number, most: number, description: string) =>
  z.optional(z.described(wholeNumber(`a whole number from ${least} to ${most}`, least, most), description));

const bytesToFollow = bounded(
  0,
  Number.MAX_SAFE_INTEGER,
  "Bytes of events that will be appended after these: refused now if there is no room for them. Default: 0",
);

/** As it is declared. */
export const appendInputDeclared = z.strictObject({
  agentId,
  runId,
  events: z.array(givenEvent).check(z.maxLength(eventsMax)),
  appendId,
  unchangedSince,
  bytesToFollow,
});

const eventsAllowed = `a list of at most ${eventsMax} events`;

/** As it is parsed: `check-event.ts` checks each event, and names it in its errors. */
export const appendInput = z.strictObject(
  {
    agentId,
    runId,
    events: z.array(z.unknown(), { error: eventsAllowed }).check(z.maxLength(eventsMax, { error: eventsAllowed })),
    appendId,
    unchangedSince,
    bytesToFollow,
  },
  { error: "no other fields than agentId, runId, events, appendId, unchangedSince and bytesToFollow" },
);

export type AppendInput = z.infer<typeof appendInput>;

export const appendOutput = z.strictObject({ appended: z.described(z.int(), "How many events were stored") });

export type AppendOutput = z.infer<typeof appendOutput>;

/** One of two words. */
/* @__NO_SIDE_EFFECTS__ */
const choice = <const Words extends readonly [string, string]>(words: Words, description: string) =>
  z.optional(z.described(z.enum(words, { error: words.map((each) => `"${each}"`).join(" or ") }), description));

export const loadInput = z.strictObject(
  {
    agentId,
    runId,
    cursor: z.optional(
      z.described(
        z.string({ error: text }),
        "The cursor of an earlier load of this run: continues it, or returns only what is new. Default: all events",
      ),
    ),
    from: choice(
      ["start", "snapshot"],
      "Where a load without a cursor begins: `snapshot` is the last one. Default: `start`",
    ),
    order: choice(
      ["time", "insertion"],
      "The order of the events: of their timestamps, or as they were appended. All pages of a load need the same one. " +
        "Default: `time`",
    ),
  },
  { error: "no other fields than agentId, runId, cursor, from and order" },
);

export type LoadInput = z.infer<typeof loadInput>;

const loadedEvent = z.strictObject({
  type,
  timestamp: z.described(z.string(), "RFC 3339 in UTC"),
  data,
  labels: z.described(labels, "Texts to find and filter it by"),
});

export const loadOutput = z.strictObject({
  agentId,
  runId,
  events: z.described(
    z.array(loadedEvent),
    "In the order of their timestamps, equal ones in the order of insertion; or all in that order",
  ),
  more: z.described(z.boolean(), "Whether more events follow: load again with meta.cursor"),
  meta: z.strictObject({
    bytes: z.described(z.int(), "The size of all events"),
    segments: z.described(z.int(), "The number of files that hold them"),
    damagedLines: z.described(z.int(), "Lines among the events of this page that are no events"),
    cursor: z.described(z.string(), "For the next load: continues here, or returns only what is new"),
  }),
});

export type LoadOutput = z.infer<typeof loadOutput>;

export const listInput = z.strictObject(
  {
    agentId: z.optional(z.described(z.string({ error: text }), "Only the runs of this agent. Default: of all agents")),
    after: z.optional(
      z.described(z.string({ error: text }), "The `after` of the page before. Default: the first page"),
    ),
  },
  { error: "no other fields than agentId and after" },
);

export type ListInput = z.infer<typeof listInput>;

const listedRun = z.strictObject({
  name: z.described(z.string(), "The run's folder, unique"),
  description: z.described(z.string(), "The number of events and their times, in one line"),
  agentId,
  runId,
  events: z.described(z.int(), "How many events it has; a damaged line counts as one"),
  firstAt: z.described(z.string(), "The earliest timestamp, RFC 3339 in UTC; empty if no line is an event"),
  lastAt: z.described(z.string(), "The latest timestamp"),
  bytes: z.described(z.int(), "The size of all its files"),
});

export type ListedRun = z.infer<typeof listedRun>;

export const listOutput = z.strictObject({
  entries: z.described(z.array(listedRun), "The runs, sorted by name"),
  after: z.described(z.nullable(z.string()), "For the next page; null if there is none"),
});

export type ListOutput = z.infer<typeof listOutput>;

export const deleteInput = z.strictObject({ agentId, runId }, { error: "no other fields than agentId and runId" });

export type DeleteInput = z.infer<typeof deleteInput>;

export const deleteOutput = z.strictObject({
  files: z.described(z.int(), "How many files went to the trash"),
  bytes: z.described(z.int(), "Their size"),
});

export type DeleteOutput = z.infer<typeof deleteOutput>;

const typesAllowed = `a list of ${eventTypes.map((each) => `"${each}"`).join(", ")}`;

export const historyInput = z.strictObject(
  {
    agentId,
    runId,
    types: z.optional(
      z.described(
        z.array(z.enum(eventTypes, { error: typesAllowed }), { error: typesAllowed }),
        "Only events of these types. Default: all types",
      ),
    ),
    last: bounded(1, shownMax, `How many events at most, the latest ones: 1 to ${shownMax}. Default ${shownDefault}`),
    charsMax: bounded(
      charsMin,
      charsMax,
      `How many characters all texts together may have, ${charsMin} to ${charsMax}; one text gets at most a quarter. ` +
        `Default ${charsDefault}`,
    ),
  },
  { error: "no other fields than agentId, runId, types, last and charsMax" },
);

export type HistoryInput = z.infer<typeof historyInput>;

/* @__NO_SIDE_EFFECTS__ */
const shown = (description: string) => z.optional(z.described(z.string(), description));

const shownEvent = z.strictObject({
  type: z.described(z.enum(eventTypes), "What kind of event it is"),
  timestamp: z.described(z.string(), "When it happened, RFC 3339 in UTC"),
  message: shown("What was said"),
  structured: shown("A value that was said, as JSON text"),
  tool_call_id: shown("The tool call"),
  tool_name: shown("The tool"),
  payload: shown("The tool's input, as JSON text"),
  error_message: shown("Why the tool failed"),
  preview: shown("A summary of the tool's result, or the beginning of a longer JSON text"),
  result_json: shown("The tool's result, as JSON text"),
  bounds: shown("What the result leaves out, as JSON text"),
  duration: shown("How long the tool took, in nanoseconds"),
  note: shown("A planner's note"),
  text: shown("A thought"),
  format: shown("Which program's form the JSON text has"),
  json: shown("What the program keeps, as JSON text; long runs of base64 are only counted"),
});

export const historyOutput = z.strictObject({
  events: z.described(z.array(shownEvent), "The latest events, the earliest of them first"),
  eventsLeftOut: z.described(z.int(), "How many earlier ones of those asked for had no room"),
  charactersCut: z.described(z.int(), "How many characters were cut from texts; each cut text says so at its end"),
});

export type HistoryOutput = z.infer<typeof historyOutput>;
