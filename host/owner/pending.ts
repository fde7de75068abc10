/** Shows the writes that wait for the owner of the memory, and applies one. */
import { isUtf8 } from "node:buffer";

import { shownPath } from "../../shared/encoded-name.ts";
import { isAtLeast } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { counted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { Accepts, CallOptions } from "../call/asked-call.ts";
import { pendingIdOf, pendingMs, shortIdOf, shownChanges } from "../gate/pending.ts";
import type { PendingChange, PendingWrite } from "../gate/pending.ts";
import { fullName } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place, SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { endOne, scopeOf, waitingOne, waitingWrites } from "./decide.ts";
import { defineOperation } from "./define-operation.ts";
import { asTrusted, contentOf, madeOf, writeOf } from "./edit.ts";
import { optional, passed, text as textField } from "./field.ts";
import { passOver } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { originWords } from "./origin-words.ts";
import { shownTime } from "./told.ts";
import type { Told } from "./told.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { fileToCorrect } from "./waiting-write.ts";
import type { Approval, ApproveOptions, ShownFile, ShownWrite, WaitingFile, WaitingWrite } from "./waiting-write.ts";

const exampleId = "d9dc2a2976e6b0c1";
const idField = textField("ID", 'the id of a suggestion, as "memcell waiting" shows it');

export const listPending = defineOperation({
  name: "listPending",
  action: "list the writes that wait",
  changes: false,
  fields: {},
  run: listWaiting,
  command: {
    name: "waiting",
    aliases: ["pending list"],
    summary: "lists the suggestions that wait for your approval",
    description: `Lists the suggestions that wait for your approval. What an agent wants to remember waits if its text comes from somewhere that
the policy does not let write at once, such as a web page. Until you approve it, no agent sees it. Nobody's decision within 30 days
drops it.`,
    examples: ["memcell waiting"],
    tells: (writes: readonly WaitingWrite[], { toCopy }): Told =>
      writes.length === 0
        ? ["Nothing waits"]
        : [...writes.flatMap(linesOf), `${counted(writes.length, "suggestion")}; to decide on a page:`, toCopy("open")],
  },
});

const linesOf = (write: WaitingWrite): Told => [
  shortIdOf(write.id) ?? write.id,
  `  ${shownTime(write.at)}  ${filesOf(write)}`,
  `  ${originOf(write)}`,
];

export const showPending = defineOperation({
  name: "showPending",
  action: "show a write that waits",
  changes: false,
  fields: { id: idField },
  run: async (operation, input) => shownWrite(operation, await waitingOne(operation, input.id)),
  command: {
    name: "pending show",
    summary: "shows what a suggestion would change",
    description: "Shows where a suggestion comes from and what it would change: each file before and after.",
    operands: ["id"],
    examples: [`memcell pending show ${exampleId}`],
    tells: textOf,
  },
});

export const approve = defineOperation({
  name: "approve",
  action: "approve a write",
  changes: true,
  fields: { id: idField, text: optional(passed(z.string(), "a text")) },
  run: approveWaiting,
  command: {
    name: "approve",
    aliases: ["pending approve"],
    summary: "applies a suggestion",
    description: `Applies a suggestion exactly as "memcell pending show" shows it. From then on its text is trusted as yours. If the files have
changed since, nothing is applied, and the suggestion waits under another id, as it would be now.

With --edit, what you save in your editor is applied in place of the suggestion's text: as you have corrected it, or not at all.`,
    operands: ["id"],
    examples: [`memcell approve ${exampleId}`, `memcell approve ${exampleId} --edit`],
    edits: {
      shownBy: "showPending",
      before: (shown) => fileToCorrect(shown as ShownWrite).text,
      ifEmpty: "nothing is applied; memcell reject ID drops the suggestion",
    },
    exitCodes: ["applied", "failed; or shown again instead, because the files have changed"],
    tells: ({ applied, write }: Approval, { input }): Told =>
      applied
        ? [`Applied ${write.id}${input.text === undefined ? "" : " as you have corrected it"}: ${filesOf(write)}`]
        : [`Nothing was applied: the files have changed since. It waits as ${write.id} now:`, ...textOf(write)],
    isUnfinished: ({ applied }: Approval) => !applied,
  },
});

export const reject = defineOperation({
  name: "reject",
  action: "reject a write",
  changes: true,
  fields: { id: idField },
  run: async (operation, input) => waitingWrite(operation, await endOne(operation, input.id, "rejected")),
  command: {
    name: "reject",
    aliases: ["pending reject"],
    summary: "drops a suggestion for good",
    description: "Drops a suggestion for good.",
    operands: ["id"],
    examples: [`memcell reject ${exampleId}`],
    tells: (write: WaitingWrite): Told => [`Dropped ${write.id}`],
  },
});

/** Without those that the plugin makes from others. */
const filesOf = ({ files }: WaitingWrite): string =>
  files.flatMap(({ scope, path, isDerived }) => (isDerived ? [] : [shownPath(`${scope}/${path}`)])).join(", ");

const originOf = (write: WaitingWrite): string =>
  write.run === null ? originWords(write) : `${originWords(write)}, run ${write.run}`;

/** For a person who decides about it: where it comes from, and each file before and after. */
function textOf(write: ShownWrite): Told {
  const { at, expires, tool, turn, isCurrent, files } = write;
  const facts = [
    `id       ${write.id}`,
    `made     ${shownTime(at)} by ${tool}${turn === null ? "" : `, turn ${turn}`}`,
    `dropped  ${shownTime(expires)}`,
    `origin   ${originOf(write)}`,
  ];
  const stale = isCurrent ? [] : ["The files have changed since: an approval shows it again."];
  return [...facts, ...stale, ...files.flatMap((file) => (file.isDerived ? [] : fileIn(file)))];
}

function fileIn({ scope, path, change, text: all, lines, presentTrust }: ShownFile): Told {
  const head = ["", `${change} ${shownPath(`${scope}/${path}`)}`];
  // A difference leaves out what stays as it is, and an approval trusts all of it.
  const isLow = presentTrust !== null && !isAtLeast(presentTrust, "direct_user");
  const origin = isLow ? originWords({ class: presentTrust, trust: presentTrust }) : "";
  const whole = isLow
    ? [`Its present text is ${origin}. An approval trusts all of the file:`, { text: all ?? "" }, ""]
    : [];
  return [
    ...head,
    ...whole,
    lines === null ? { text: change === "trash" ? "" : (all ?? "not text") } : { difference: lines },
  ];
}

/** All that wait, the oldest first. */
export async function listWaiting(operation: Operation): Promise<WaitingWrite[]> {
  return (await waitingWrites(operation)).map((write) => waitingWrite(operation, write));
}

/**
 * Applies a write that waits, as it was shown: its call runs again with the same input and at the same time, and counts
 * only if it changes the same bytes of the same files to the same bytes. Otherwise it is shown again, under another id.
 * `text`: the owner's own, in place of the only one that was shown.
 */
async function approveWaiting(
  operation: Operation,
  { id, text }: ApproveOptions & { readonly id: string },
): Promise<Approval> {
  const write = await waitingOne(operation, id);
  const shown = waitingWrite(operation, write);
  const own = text === undefined ? null : correction(operation, shown, text);
  let [isStale, changesNothing] = [false, false];
  const accepts: Accepts<ToolResult> = async (_answer, changes, reader, turn) => {
    changesNothing = changes.length === 0;
    isStale = ofEntries(operation, await changesIn(reader, changes)) !== ofEntries(operation, write.changes);
    if (isStale) throw new ToolError("VERSION_CONFLICT", `Cannot ${operation.action}: its files have changed`);
    return await approvedChanges(operation.within({ held: reader.all, turn }), changes, own);
  };
  try {
    await runAgain(operation, write, { accepts, kind: own === null ? "approved" : "corrected" });
  } catch (error) {
    if (isStale) return await showAgain(operation, write);
    throw error;
  }
  // A commit has decided already, and its record can be gone.
  const ended = endOne(operation, write.id, "approved");
  await (changesNothing ? ended : ended.catch(passOver));
  return { applied: true, write: shown };
}

/** The owner's text, as a change of its file; `null` if it is what was shown. */
function correction(operation: Operation, shown: WaitingWrite, text: string): SizedChange | null {
  const { scope, path, text: before } = fileToCorrect(shown);
  const content = contentOf(operation, text);
  return text === before ? null : writeOf({ scope, path }, content);
}

/** What an approval commits: what the call changes, or the owner's text in its place and what the plugin makes of that. */
async function approvedChanges(
  inside: Operation,
  asked: readonly SizedChange[],
  own: SizedChange | null,
): Promise<readonly SizedChange[]> {
  const changes = asked.map((change) => ({ ...change, scope: scopeOf(change) }));
  const written = changes.map((change) => (own !== null && placeKey(change) === placeKey(own) ? own : change));
  const anew = own === null ? [] : (await madeOf(inside, own, written)).changes;
  const again = new Set(anew.map(placeKey));
  const made = written.filter((change) => isMade(inside, change) && !again.has(placeKey(change)));
  return [...written.filter((change) => !isMade(inside, change)), ...(await asTrusted(inside, made)), ...anew];
}

/**
 * The changes of entries, to compare: byte for byte, and made from the same files. What a plugin makes from its other
 * files, such as an index, can differ: other entries are written meanwhile.
 */
const ofEntries = (operation: Operation, changes: readonly PendingChange[]): string =>
  JSON.stringify(changes.filter((change) => !isMade(operation, change)));

/** Whether a changed file is made from others by its plugin. */
const isMade = ({ tools }: Operation, change: Place): boolean =>
  tools.isDerivedAt({ scope: scopeOf(change), path: change.path });

const changesIn = (reader: HeldHome, changes: readonly SizedChange[]): Promise<PendingChange[]> =>
  shownChanges(changes, (scope, path) => reader.bytesOf(scope, path));

/** Runs the call again. Throws its failure. */
async function runAgain(operation: Operation, write: PendingWrite, options: CallOptions): Promise<void> {
  const name = `${write.plugin}/${write.tool}`;
  const { all, notLoaded } = operation.tools;
  const found = all.find((each) => fullName(each) === name);
  if (found === undefined) {
    const hint = notLoaded.hintForPlugin(write.plugin);
    throw new ToolError("TOOL_UNKNOWN", `Cannot ${operation.action}: no loaded plugin has the tool ${name}`, { hint });
  }
  const result = await operation.call(found, JSON.parse(write.input), { ...options, approved: write });
  if (result.ok) return;
  // It can fail because another approval has applied it meanwhile.
  await waitingOne(operation, write.id);
  throw errorOf(result);
}

/** It waits again, as it would be now. */
async function showAgain(operation: Operation, { id, ...before }: PendingWrite): Promise<Approval> {
  const atMs = operation.now();
  const now = { ...before, atMs, epochMs: atMs };
  const accepts: Accepts<ToolResult> = async (_answer, changes, reader) => {
    now.changes = await changesIn(reader, changes);
    return [];
  };
  await runAgain(operation, { id, ...now }, { accepts, mode: "look" });
  await endOne(operation, id, "replaced", now);
  return { applied: false, write: await shownWrite(operation, { id: pendingIdOf(now), ...now }) };
}

function waitingWrite(operation: Operation, write: PendingWrite): WaitingWrite {
  const { id, atMs, tool, plugin, trust, run, turn, source, callId, changes } = write;
  const times = { at: new Date(atMs), expires: new Date(atMs + pendingMs) };
  const files = changes.map((change) => waitingFile(operation, change));
  return { id, ...times, tool, plugin, class: write.class, trust, run, turn, source, callId, files };
}

function waitingFile(operation: Operation, change: PendingChange): WaitingFile {
  const { path, before } = change;
  const how = change.content === null ? "trash" : before === null ? "create" : "replace";
  // Only what is UTF-8 can be shown.
  const text = change.content !== null && "text" in change.content ? change.content.text.toWellFormed() : null;
  return { scope: scopeOf(change), path, change: how, isDerived: isMade(operation, change), text };
}

/** Beside the present files. */
async function shownWrite(operation: Operation, write: PendingWrite): Promise<ShownWrite> {
  const files: ShownFile[] = [];
  let isCurrent = true;
  for (const change of write.changes) {
    const file = waitingFile(operation, change);
    const { bytes, presentTrust } = await presentFile(operation, file);
    files.push({ ...file, presentTrust, ...(await compared(file, bytes)) });
    if (!file.isDerived && digestOf(bytes) !== change.before) isCurrent = false;
  }
  return { ...waitingWrite(operation, write), isCurrent, files };
}

function presentFile(
  operation: Operation,
  { scope, path }: Place,
): Promise<{ readonly bytes: Buffer | null; readonly presentTrust: OriginClass | null }> {
  return operation.hold("read", [scope], async (held) => {
    const { history } = held;
    const bytes = await held.bytesOf(scope, path);
    if (bytes === null) return { bytes, presentTrust: null };
    const origin = await history.originOf(scope, path);
    return { bytes: Buffer.from(bytes), presentTrust: origin?.trust ?? history.state().unknown };
  });
}

/** A file beside what is in its place. No file is like an empty one. */
async function compared({ text }: WaitingFile, bytes: Buffer | null): Promise<Pick<ShownFile, "present" | "lines">> {
  const present = bytes !== null && isUtf8(bytes) ? bytes.toString("utf8") : null;
  const isText = text !== null && (bytes === null || present !== null);
  return { present, lines: isText ? await unifiedDiff(present ?? "", text) : null };
}
