import type { InspectMemoryOutput } from "../../shared/user-memory/inspect.ts";
import type { Answer } from "../serve-tool.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";

/** Says what is wrong, and what mending would do. Changes nothing. */
export function inspectMemory(): Answer<InspectMemoryOutput> {
  const findings = findingsOf(readMemory());
  return { message: `${findings.length} findings`, data: { findings } };
}
