/** A runtime with only the plugin `run-history`, on a fresh folder, for all tests of a file. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import {
  decodeAssistantMessageData,
  decodeOpaqueData,
  decodePlannerNoteData,
  decodeSnapshotData,
  decodeThinkingData,
  decodeToolCallData,
  decodeToolResultData,
  decodeUserMessageData,
  newEvent,
  plannerNoteData,
  RunHistory,
  RunHistoryError,
} from "memcell/run-history";
import type { DecodableEvent, Event, EventType, Snapshot } from "memcell/run-history";
import { afterAll, beforeAll } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { userFolder } from "../support/user-files.ts";

type HostCall = ConstructorParameters<typeof RunHistory>[0]["callAsHost"];

/** A user of the runtime, whom no other test has. */
export interface HistoryUser {
  readonly userId: string;
  readonly history: RunHistory;
  /** The history as a program sees it whose calls go through `around`. */
  readonly through: (around: HostCall) => RunHistory;
  readonly call: HostCall;
  /** A file or folder of the agent `agent`, such as `run/000001.jsonl`. */
  readonly place: (path: string) => string;
}

export function useHistory(): () => HistoryUser {
  let stage: RuntimeStage;
  beforeAll(async () => {
    stage = await openStage({ plugins: ["run-history"], threadsMax: 1 });
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  return () => {
    const userId = stage.user();
    const call: HostCall = (tool, input, ctx) => stage.runtime.callAsHost(tool, input, ctx);
    const runs = join(userFolder(stage.dataDir, userId), "runs/agent");
    return {
      userId,
      call,
      history: new RunHistory(stage.runtime, { userId }),
      through: (callAsHost) => new RunHistory({ callAsHost }, { userId }),
      place: (path) => join(runs, path),
    };
  };
}

/** Of each type of event. */
export const decoders = {
  user_message: decodeUserMessageData,
  assistant_message: decodeAssistantMessageData,
  tool_call: decodeToolCallData,
  tool_result: decodeToolResultData,
  planner_note: decodePlannerNoteData,
  thinking: decodeThinkingData,
  opaque: decodeOpaqueData,
  snapshot: decodeSnapshotData,
} satisfies Record<EventType, (event: DecodableEvent) => unknown>;

export const noteAt = (timestamp: string | undefined, note: string): Event =>
  newEvent(timestamp, plannerNoteData({ note }));
export const note = (text = "n"): Event => noteAt(undefined, text);

/** The texts of a run's notes, without the spaces that make them large. */
export const notesOf = ({ events }: Pick<Snapshot, "events">): string[] =>
  events.map(({ data }) => String(data["note"]).trim());

export function folderAt(place: string): string {
  mkdirSync(place, { recursive: true });
  return place;
}

/** The error that some work throws. */
export function faultOf(work: () => unknown): RunHistoryError {
  try {
    work();
  } catch (error) {
    if (error instanceof RunHistoryError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
