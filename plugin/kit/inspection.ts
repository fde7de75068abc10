/** The answers of a tool with the role `inspect`, one for each kind of question. */
import { roleLimits } from "../../shared/limits.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { counted, quoted } from "../../shared/text.ts";
import type { Answer } from "./serve-tool.ts";
import { ToolError } from "./tool-error.ts";

export interface Inspected {
  /** What is wrong with any file, incoming files included. */
  readonly found: readonly InspectFinding[];
  /** By problem, the code that refuses an incoming file. A problem without a code refuses no file. */
  readonly codes: Readonly<Record<string, RefusedPath["code"]>>;
  /** What is wrong with all files of an import together. */
  readonly together: readonly RefusedPath[];
}

/**
 * With `mend`, returns only findings that can be mended; the family then mends them. It throws the first refusal's code
 * if incoming files cannot be used as they are, so that nothing is committed.
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

/** Answers `paths`. No file is read: the host checks the paths of an import first. */
export function answerPaths(unfit: RefusedPath[], derived?: string[]): Answer<InspectOutput> {
  return answerOf({ findings: [], unfit, ...(derived && { derived }) });
}

/**
 * If not all findings fit, those that can be mended come first, so that the host knows that there is something to mend.
 */
function answerOf({ findings, ...others }: Omit<InspectOutput, "findingsHidden">): Answer<InspectOutput> {
  const room = roleLimits.toldMax - (others.refused?.length ?? 0);
  const ordered = findings.length > room ? findings.toSorted(mendableFirst) : findings;
  const shown = ordered.slice(0, room);
  return {
    message: counted(findings.length, "finding"),
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
