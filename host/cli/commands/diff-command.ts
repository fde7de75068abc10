import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { FileDiff } from "../../owner/file-version.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { diffLine } from "../diff-line.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { versionNumber } from "../version-number.ts";

export const diffCommand = defineCommand({
  name: "diff",
  description: `Prints the difference of two versions of a file as a unified diff. For the owner of the data; tools cannot
do this. Versions have the numbers that "memcell history NAME" shows. "before" is what the file was before the second
version: "diff NAME before 7" prints what version 7 has changed.`,
  operands: {
    "<NAME>": "the path of a file, or the name of an entry, also of a deleted one",
    "<A>": 'the number of a version, or "before"',
    "[B]": "the number of a version (default: the present content)",
  },
  requiredTexts: { user: ["ID", "the user whose file it is"] },
  texts: { scope: ["SCOPE", "the file's scope, if files of several scopes have the name"] },
  flags: { json: "prints JSON" },
  settings: runtimePaths,
  examples: [
    "memcell diff editor 3 7 --user alice",
    "memcell diff editor 3 --user alice",
    "memcell diff editor before 7 --user alice",
  ],
  exitCodes: ["0 done, whether there is a difference or not", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [name = "", first = "", second], options, settings, terminal }) {
    const { user: userId, scope, json } = options;
    if (first === "before" && second === undefined)
      throw new UsageError('"before" needs the number of a version after it');
    const from = first === "before" ? first : versionNumber("A", first);
    const to = second === undefined ? undefined : versionNumber("B", second);
    await using runtime = await openRuntime({ settings, terminal }, userId, {
      besides: "all",
      isOwners: true,
      isReading: true,
    });
    const found = await withProgress(
      terminal,
      "diff",
      () => runtime.upkeep.diff({ userId }, name, { from, to, scope }),
      json,
    );
    const names = [nameOf(first, second), second === undefined ? "now" : `version ${second}`] as const;
    terminal.stdout.write(json ? `${visibleJson(found)}\n` : textOf(found, names));
    return 0;
  },
});

const nameOf = (first: string, second: string | undefined): string =>
  first === "before" ? `before version ${second}` : `version ${first}`;

function textOf({ scope, path, before, after, lines }: FileDiff, [first, second]: readonly [string, string]): string {
  const place = `${scope}/${path}`;
  if (lines === null)
    return `${visibleText(place)}: ${before === after ? "the same" : "different"}, but not comparable as text\n`;
  const heads = [`--- ${place} (${nameOrNone(first, before)})`, `+++ ${place} (${nameOrNone(second, after)})`];
  return [...heads.map(visibleText), ...lines.map(diffLine)].map((line) => `${line}\n`).join("");
}

const nameOrNone = (name: string, sha256: string | null): string => (sha256 === null ? `${name}: no file` : name);
