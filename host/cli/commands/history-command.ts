import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import type { FileVersion } from "../../owner/file-version.ts";
import type { Runtime } from "../../runtime/api.ts";
import { ToolError } from "../../values/tool-error.ts";
import { visibleJson, visibleName, visibleText } from "../../values/visible-text.ts";
import { columns, shortened } from "../columns.ts";
import { defineCommand } from "../command.ts";
import { openRuntime, refuseUnknown } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";

export const historyCommand = defineCommand({
  name: "history",
  description: `Prints every version of a user's files, or of one of them, the latest first: when it was written and by
which tool, how far its text is trusted, and the run and the source that the program has named. For the owner of the
data; tools cannot do this.

The trust is the lowest of what the program has said of the call and of what its model had seen, and it never rises by
an edit, a move or an import. An edit by hand has a version once a later change has met it. The policy says for how long
contents are kept (history): "diff" and "restore" refuse a version whose content is no longer kept.`,
  operands: { "[NAME]": "the path of a file, or the name of an entry, also of a deleted one (default: all files)" },
  requiredTexts: { user: ["ID", "the user whose files they are"] },
  texts: { scope: ["SCOPE", "prints only the files of this scope (default: all scopes)"] },
  flags: { json: "prints JSON, with hashes and ids" },
  settings: runtimePaths,
  examples: [
    "memcell history --user alice",
    "memcell history editor --user alice",
    "memcell history 2026/11/26.md --scope journal --user alice --json",
  ],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [name], options, settings, terminal }) {
    const { user: userId, scope, json } = options;
    await using runtime = await openRuntime({ settings, terminal }, userId, {
      besides: "all",
      isOwners: true,
      isReading: true,
    });
    const all = await withProgress(terminal, "history", () => runtime.upkeep.history({ userId }, { scope }), json);
    if (all.length === 0) await refuseUnknown(runtime, userId, "show the history");
    const shown = name === undefined ? all : all.filter((version) => isNamed(runtime, version, name));
    if (shown.length === 0 && name !== undefined) throw unknown(name, scope);
    terminal.stdout.write(json ? `${visibleJson(shown)}\n` : tableOf(shown));
    return 0;
  },
});

const unknown = (name: string, scope: string | undefined): ToolError => {
  const where = scope === undefined ? "" : ` of ${quoted(scope)}`;
  return new ToolError("ENTRY_NOT_FOUND", `Cannot show the history of ${quoted(name)}: no version${where} names it`);
};

function isNamed(runtime: Runtime, { scope, path }: FileVersion, name: string): boolean {
  const files = runtime
    .families()
    .flatMap(({ entryFile, entryScopes }) =>
      entryFile !== undefined && entryScopes.includes(scope) ? [entryFile.split("{name}").join(name)] : [],
    );
  return [name, ...files].includes(path);
}

/** On a terminal, a long source would break the lines. */
const textColumnsMax = 48;

function tableOf(versions: readonly FileVersion[]): string {
  const heads = ["time", "version", "change", "file", "trust", "by", "run or source"];
  return columns([heads, ...versions.map(rowOf)], [1]);
}

function rowOf(version: FileVersion): string[] {
  const { at, seq, scope, path, trust, tool, run, source } = version;
  const place = `${scope}/${path}`;
  const origin = [run, source].flatMap((each) => (each === null ? [] : [shortened(visibleText(each), textColumnsMax)]));
  const by = tool === null ? "by hand" : visibleName(tool);
  return [at.toISOString(), String(seq), changeOf(version), visibleText(place), trust, by, origin.join("  ")];
}

function changeOf({ kind, before, sha256, from }: FileVersion): string {
  if (kind !== undefined) return kind;
  if (sha256 === null) return "gone";
  if (from !== undefined) return "moved";
  return before === null ? "new" : "changed";
}
