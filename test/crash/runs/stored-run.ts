/** What the disk has of the run, read without the plugin, and what `LoadRun` answers. */
import type { Runtime } from "memcell";

import { readUserFiles } from "../../support/user-files.ts";
import { sharedRun } from "./batch.ts";

export interface StoredEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: unknown;
  readonly labels: Readonly<Record<string, string>>;
}

export interface StoredRun {
  /** `run.json`. */
  readonly head: unknown;
  /** In order. */
  readonly segments: readonly string[];
}

export function readStoredRun(dataDir: string): StoredRun {
  const folder = `runs/${sharedRun.agentId}/${sharedRun.runId}/`;
  const files = Object.entries(readUserFiles(dataDir, sharedRun.userId));
  const isSegment = ([path]: [string, string]): boolean => /^\d{6}\.jsonl$/.test(path.replace(folder, ""));
  return {
    head: JSON.parse(files.find(([path]) => path === `${folder}run.json`)?.[1] ?? "null") as unknown,
    segments: files.filter(isSegment).map(([, text]) => text),
  };
}

/** In the order of insertion. Throws for a line that is not JSON. */
export function eventsOf({ segments }: StoredRun): StoredEvent[] {
  return segments.flatMap(linesOf).map((line) => JSON.parse(line) as StoredEvent);
}

/** Throws for a text that does not end in a line end. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error(`A segment ends in half a line: ${text.slice(-200)}`);
  return lines;
}

/** Events of one attempt that are next to each other. */
export function neighbours(events: readonly StoredEvent[]): StoredEvent[][] {
  const found: StoredEvent[][] = [];
  for (const event of events) {
    const before = found.at(-1);
    if (before?.[0] !== undefined && attemptOf(before[0]) === attemptOf(event)) before.push(event);
    else found.push([event]);
  }
  return found;
}

const attemptOf = ({ labels }: StoredEvent): string => `${labels["writer"]} ${labels["number"]} ${labels["attempt"]}`;

/** By time; equal times stay in their order, because the sort is stable. */
export function inTime(events: readonly StoredEvent[]): StoredEvent[] {
  const keyOf = ({ timestamp }: StoredEvent): string => {
    const [seconds, fraction = ""] = timestamp.replace("Z", "").split(".");
    return `${seconds}.${fraction.padEnd(9, "0")}`;
  };
  return events.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

interface LoadedPage {
  readonly events: readonly (Omit<StoredEvent, "data"> & { readonly data: string })[];
  readonly more: boolean;
  readonly meta: { readonly cursor: string };
}

/** All pages of the run. */
export async function loadPages(runtime: Runtime): Promise<StoredEvent[][]> {
  const { userId, ...ids } = sharedRun;
  const pages: StoredEvent[][] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const result = await runtime.callAsHost("LoadRun", { ...ids, cursor }, { userId });
    if (!result.ok) throw new Error(result.error.message);
    const page = result.data as LoadedPage;
    pages.push(page.events.map((event) => ({ ...event, data: JSON.parse(event.data) as unknown })));
    [cursor, more] = [page.meta.cursor, page.more];
  }
  return pages;
}
