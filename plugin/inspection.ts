/** What a tool with the role `inspect` makes of what it has found: the answer to each of a host's questions. */
import { roleLimits } from "../shared/limits.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../shared/roles.ts";
import { quoted } from "../shared/text.ts";
import type { Answer } from "./serve-tool.ts";
import { ToolError } from "./tool-error.ts";

export interface Inspected {
  /** What is wrong with any file, those that come in among them. */
  readonly found: readonly InspectFinding[];
  /** By problem, what a file that comes in and has it is refused with. Without a code, the problem refuses none. */
  readonly codes: Readonly<Record<string, RefusedPath["code"]>>;
  /** Of an import, what is wrong with all files together. */
  readonly together: readonly RefusedPath[];
}

/**
 * With `mend` it tells what can be mended, which the family then does. It throws when files of an import cannot be used as they
 * are, so that nothing of it is committed; the code is that of the first.
 */
export function answerInspection(
  { mend, incoming }: Pick<InspectInput, "mend" | "incoming">,
  { found, codes, together }: Inspected,
): Answer<InspectOutput> {
  const comesIn = new Set(incoming);
  const findings = found.filter(({ path, remedy }) => !comesIn.has(path) && (!mend || remedy !== null));
  if (incoming === undefined) return answerOf({ findings });
  const refused = [...together];
  for (const { problem, path, message } of found) {
    const code = comesIn.has(path) ? codes[problem] : undefined;
    if (code !== undefined) refused.push({ path, code, reason: message });
  }
  if (mend && refused.length > 0) throw importRefused(refused);
  return answerOf({ findings, refused: refused.slice(0, roleLimits.toldMax) });
}

/** To `paths`. No file is looked at for it: an import is judged by its names first. */
export function answerPaths(unfit: RefusedPath[], derived?: string[]): Answer<InspectOutput> {
  return answerOf({ findings: [], unfit, ...(derived && { derived }) });
}

/** What can be mended comes first where not all can be told, so that a host knows that there is something to mend. */
function answerOf({ findings, ...others }: Omit<InspectOutput, "findingsHidden">): Answer<InspectOutput> {
  const room = roleLimits.toldMax - (others.refused?.length ?? 0);
  const ordered = findings.length > room ? findings.toSorted(mendableFirst) : findings;
  const shown = ordered.slice(0, room);
  return {
    message: `${findings.length} findings`,
    data: { findings: shown, findingsHidden: findings.length - shown.length, ...others },
  };
}

const mendableFirst = (a: InspectFinding, b: InspectFinding): number =>
  Number(a.remedy === null) - Number(b.remedy === null);

/** How many refused files the message names. */
const namedMax = 3;

function importRefused(refused: readonly RefusedPath[]): ToolError {
  const named = refused
    .slice(0, namedMax)
    .map(({ path, reason }) => (path === "" ? reason : `${quoted(path)}: ${reason}`));
  const rest = refused.length > namedMax ? [`and ${refused.length - namedMax} more`] : [];
  return new ToolError(
    refused[0]?.code ?? "INPUT_INVALID",
    `Cannot import the memory: ${[...named, ...rest].join("; ")}`,
  );
}
