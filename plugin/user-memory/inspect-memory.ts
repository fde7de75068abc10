import type { InspectMemoryOutput } from "../../shared/user-memory/inspect.ts";
import type { Answer } from "../serve-tool.ts";
import { answerOf, findingsOf, readMemory } from "./memory-findings.ts";

/** Says what is wrong, and what mending would do. Changes nothing. */
export function inspectMemory(): Answer<InspectMemoryOutput> {
  return answerOf(findingsOf(readMemory()));
}
