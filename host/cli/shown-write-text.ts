import { isAtLeast } from "../../shared/origin.ts";
import type { ShownFile, ShownWrite } from "../upkeep/waiting-write.ts";
import { visibleLines, visibleName, visibleText } from "../values/visible-text.ts";
import { diffLine } from "./diff-line.ts";

/** A waiting write for a person who decides about it: where it comes from, and each file before and after. */
export function shownWriteText(write: ShownWrite): string {
  const { id, at, expires, tool, trust, run, turn, source, isCurrent, files } = write;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ["id", id],
    ["made", at.toISOString()],
    ["dropped", expires.toISOString()],
    ["tool", visibleName(tool)],
    ["origin", `${write.class}, trusted as ${trust}`],
    ["run", run],
    ["turn", turn],
    ["source", source],
  ];
  const told = facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(8)} ${visibleText(value)}\n`]));
  const stale = isCurrent ? "" : "The files have changed since: an approval shows it again.\n";
  return told.join("") + stale + files.flatMap((file) => (file.isDerived ? [] : [fileText(file)])).join("");
}

function fileText({ scope, path, change, text, lines, presentTrust }: ShownFile): string {
  const shown = lines?.map((line) => `${diffLine(line)}\n`).join("");
  const instead = change === "trash" ? "" : (text ?? "not text");
  const isLow = presentTrust !== null && !isAtLeast(presentTrust, "direct_user");
  const whole = isLow ? wholeText(presentTrust, text ?? "") : "";
  return `\n${change} ${visibleText(`${scope}/${path}`)}\n${whole}${shown ?? `${visibleLines(instead, "  ")}\n`}`;
}

/** A difference leaves out what stays as it is. */
const wholeText = (trust: string, text: string): string =>
  `Its present text is trusted as ${trust}. An approval trusts all of the file:\n  ${visibleLines(text, "  ")}\n\n`;
