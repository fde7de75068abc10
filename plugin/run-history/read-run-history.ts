/** Earlier events of a run for a model: the latest ones, within a budget of characters. */
import { eventTypes } from "../../shared/run-history/event-types.ts";
import { counted } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { findRun } from "./find-run.ts";
import { latestEvents } from "./latest-events.ts";
import { checkIds } from "./run-ids.ts";
import { runLimits } from "./run-limits.ts";
import type { HistoryInput, HistoryOutput } from "./schemas.ts";
import { showEvent } from "./shown-event.ts";
import type { ShownEvent } from "./shown-event.ts";

/** One field gets at most this part of the budget, so that a long result does not push out all other events. */
const fieldShare = 1 / 4;

/** If the latest event alone has more text than the budget: its fields are at most seven. */
const leastShare = 1 / 12;

/** What an event takes beside its fields: type, timestamp and JSON. */
const charsPerEvent = 60;

export function readRunHistory(input: HistoryInput): Answer<HistoryOutput> {
  const {
    agentId,
    runId,
    types = eventTypes,
    last = runLimits.shownDefault,
    charsMax = runLimits.charsDefault,
  } = input;
  checkIds("ReadRunHistory", { agentId, runId });
  const run = findRun({ agentId, runId });
  const found = run === null ? [] : latestEvents(run, types, last);
  const events: ShownEvent[] = [];
  let [room, charactersCut] = [charsMax, 0];
  for (const { event } of found) {
    const generous = showEvent(event, Math.floor(charsMax * fieldShare));
    const isTooLong = generous.chars > charsMax;
    const { shown, chars, charsCut } = isTooLong ? showEvent(event, Math.floor(charsMax * leastShare)) : generous;
    room -= chars + charsPerEvent;
    if (room < 0 && events.length > 0) break;
    events.unshift(shown);
    charactersCut += charsCut;
  }
  const eventsLeftOut = found.length - events.length;
  return {
    message: messageOf(events.length, eventsLeftOut, charactersCut),
    data: { events, eventsLeftOut, charactersCut },
  };
}

function messageOf(shown: number, leftOut: number, cut: number): string {
  const parts = [counted(shown, "event")];
  if (leftOut > 0) parts.push(`${leftOut} earlier ones left out for lack of room`);
  if (cut > 0) parts.push(`${cut} characters cut`);
  return parts.join("; ");
}
