import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

/** A note of a planner. */
export interface PlannerNoteData {
  readonly note: string;
}

export function readPlannerNote(data: unknown, forms: Forms): PlannerNoteData {
  return { note: new DataFields("planner_note", data, forms).requiredText("note") };
}

export function writePlannerNote({ note }: PlannerNoteData): DataMap {
  return { note };
}
