import { isAtLeast } from "../../../shared/origin.ts";
import { counted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { Upkeep } from "../../owner/upkeep.ts";
import type { Approval, WaitingWrite, ShownFile, ShownWrite } from "../../owner/waiting-write.ts";
import { visibleJson, visibleName, visibleText, visibleLines } from "../../values/visible-text.ts";
import { columns, shortened } from "../columns.ts";
import { defineCommand } from "../command.ts";
import { diffLine } from "../diff-line.ts";
import { openRuntime, refuseUnknown } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";

export const pendingCommand = defineCommand({
  name: "pending",
  description: `Lists the writes that wait for the owner of the memory, shows what one of them would change, applies it, or
drops it for good. For the owner of the data; tools cannot do this.

A write waits if its text comes from somewhere that the policy does not let write at once, such as a web page. Until it
is approved it is in no index, read, list or search. "approve" applies exactly what "show" shows: if the files have
changed since, nothing is applied, and the write waits under another id, as it would be now.`,
  operands: { "<list|show|approve|reject>": "what to do", "[ID]": 'the id of a write that waits, as "list" prints it' },
  requiredTexts: { user: ["ID", "the user whose memory it is"] },
  flags: { json: "prints JSON" },
  settings: runtimePaths,
  examples: [
    "memcell pending list --user alice",
    "memcell pending show w-0mwxz5z1w-356b9d059cd8-d9dc2a2976e6b0c1d2e3f40516273849 --user alice",
    "memcell pending approve w-0mwxz5z1w-356b9d059cd8-d9dc2a2976e6b0c1d2e3f40516273849 --user alice",
  ],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output; or shown again instead of approved"],

  async run({ operands: [action, id], options, settings, terminal }) {
    const { user: userId, json } = options;
    const perform = performerOf(action, id);
    const isReading = action === "list" || action === "show";
    await using runtime = await openRuntime({ settings, terminal }, userId, {
      besides: "all",
      isOwners: true,
      isReading,
    });
    const {
      data,
      text,
      code = 0,
    } = await withProgress(terminal, `pending ${action}`, () => perform(runtime.upkeep, { userId }), json);
    if (Array.isArray(data) && data.length === 0) await refuseUnknown(runtime, userId, "list the writes that wait");
    terminal.stdout.write(json ? `${visibleJson(data)}\n` : text());
    return code;
  },
});

interface Performed {
  readonly data: unknown;
  readonly text: () => string;
  readonly code?: number;
}

type Perform = (upkeep: Upkeep, ctx: { userId: string }) => Promise<Performed>;

/** Checks the whole command line before anything is opened. */
function performerOf(action: string | undefined, id: string | undefined): Perform {
  if (action === "list") {
    if (id !== undefined) throw new UsageError(`unexpected argument "${id}"`);
    return async (upkeep, ctx) => listed(await upkeep.pending(ctx));
  }
  if (action !== "show" && action !== "approve" && action !== "reject") {
    throw new UsageError(`no action "${action}", allowed: list, show, approve, reject`);
  }
  if (id === undefined) throw new UsageError("the id of a write that waits is missing");
  return async (upkeep, ctx) => {
    if (action === "approve") return approved(await upkeep.approve(ctx, id));
    if (action === "reject") return rejected(await upkeep.reject(ctx, id));
    const write = await upkeep.showPending(ctx, id);
    return { data: write, text: () => shownWriteText(write) };
  };
}

const rejected = (data: WaitingWrite): Performed => ({ data, text: () => `Dropped ${data.id}\n` });

function approved(data: Approval): Performed {
  const { applied, write } = data;
  if (applied) return { data, text: () => `Applied ${write.id}: ${filesOf(write)}\n` };
  const text = (): string =>
    `Nothing was applied: the files have changed since. It waits as ${write.id} now:\n${shownWriteText(write)}`;
  return { data, text, code: 1 };
}

/** On a terminal, a long source would break the lines. */
const textColumnsMax = 48;

function listed(data: readonly WaitingWrite[]): Performed {
  const heads = ["id", "time", "tool", "trust", "files", "run or source"];
  const text = (): string =>
    data.length === 0
      ? "No write waits\n"
      : columns([heads, ...data.map(rowOf)]) + `${counted(data.length, "write")}\n`;
  return { data, text };
}

function rowOf(write: WaitingWrite): string[] {
  const { id, at, tool, trust, run, source } = write;
  const origin = [run, source].flatMap((each) => (each === null ? [] : [shortened(visibleText(each), textColumnsMax)]));
  return [id, at.toISOString(), visibleName(tool), trust, filesOf(write), origin.join("  ")];
}

/** Without those that the plugin makes from others. */
const filesOf = ({ files }: WaitingWrite): string =>
  files.flatMap(({ scope, path, isDerived }) => (isDerived ? [] : [visibleText(`${scope}/${path}`)])).join(", ");

/** A waiting write for a person who decides about it: where it comes from, and each file before and after. */
function shownWriteText(write: ShownWrite): string {
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
