import { lowestOf } from "../../shared/origin.ts";
import type { VersionKind, WriteFacts } from "../store/versions/version.ts";
import { statedTrust } from "../values/origin.ts";
import type { StatedOrigin } from "../values/origin.ts";

/** Who writes: a tool in a call, or the data's owner in an operation. */
export interface Writer {
  readonly atMs: number;
  /** The tool, or the operation's name. */
  readonly tool: string;
  /** `null` if no plugin is involved. */
  readonly plugin: string | null;
  readonly userId: string;
  readonly callId: string;
  readonly origin: StatedOrigin;
  /** Whether the data's owner has asked for it. Then its class is `owner_edit`, unless the program says another. */
  readonly isUpkeep: boolean;
  readonly kind?: VersionKind | undefined;
}

/** What the history says of a change set. */
export function writeFacts({ origin, isUpkeep, kind, userId, ...writer }: Writer): WriteFacts {
  const stated = isUpkeep && !origin.told ? "owner_edit" : origin.class;
  const trust = isUpkeep && !origin.told ? stated : statedTrust(origin);
  const { run, turn, source } = origin;
  const { atMs, tool, plugin, callId } = writer;
  // Nobody can say where an imported text was before.
  const bounded = kind === "imported" ? lowestOf(trust, "unstated") : trust;
  return { atMs, tool, plugin, principal: userId, class: stated, trust: bounded, run, turn, source, callId };
}
