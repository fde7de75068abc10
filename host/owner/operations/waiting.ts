import { shownPath } from "../../../shared/encoded-name.ts";
import { isAtLeast } from "../../../shared/origin.ts";
import { counted } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";
import { endOne, waitingOne } from "../decide.ts";
import { defineOperation } from "../define-operation.ts";
import { optional, passed, text } from "../field.ts";
import { originWords } from "../origin-words.ts";
import { approveWaiting, listWaiting, shownWrite, waitingWrite } from "../pending.ts";
import { shownTime } from "../told.ts";
import type { Told } from "../told.ts";
import { fileToCorrect } from "../waiting-write.ts";
import type { Approval, ShownFile, ShownWrite, WaitingWrite } from "../waiting-write.ts";

const exampleId = "w-0mwxz5z1w-356b9d059cd8-d9dc2a2976e6b0c1d2e3f40516273849";
const id = text("ID", 'the id of a suggestion, as "memcell waiting" shows it');

export const listPending = defineOperation({
  name: "listPending",
  action: "list the writes that wait",
  changes: false,
  fields: {},
  run: (operation) => listWaiting(operation),
  command: {
    name: "waiting",
    aliases: ["pending list"],
    summary: "lists the suggestions that wait for your approval",
    description: `Lists the suggestions that wait for your approval. What an agent wants to remember waits if its text comes from somewhere that
the policy does not let write at once, such as a web page. Until you approve it, no agent sees it. Nobody's decision within 30 days
drops it.`,
    examples: ["memcell waiting"],
    tells: (writes: readonly WaitingWrite[]): Told =>
      writes.length === 0 ? ["Nothing waits"] : [...writes.flatMap(linesOf), counted(writes.length, "suggestion")],
  },
});

/** An id alone takes most of a line. */
const linesOf = (write: WaitingWrite): Told => [
  write.id,
  `  ${shownTime(write.at)}  ${filesOf(write)}`,
  `  ${originOf(write)}`,
];

export const showPending = defineOperation({
  name: "showPending",
  action: "show a write that waits",
  changes: false,
  fields: { id },
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
  fields: { id, text: optional(passed(z.string(), "a text")) },
  run: (operation, input) => approveWaiting(operation, input.id, input.text),
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
  fields: { id },
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
