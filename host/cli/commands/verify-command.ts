import { auditLimits } from "../../../shared/limits.ts";
import { counted, quoted } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";
import { verifyLog } from "../../audit/verify/verify-log.ts";
import type { BrokenLog, LogVerification, VerifyOptions } from "../../audit/verify/verify-log.ts";
import { flag, listOf, optional, text } from "../../owner/field.ts";
import type { Field } from "../../owner/field.ts";
import { defineCommand, jsonField } from "../command.ts";
import { printResult } from "../print-told.ts";

const noted: Field<NonNullable<VerifyOptions["noted"]>> = {
  ...text("SEQ:HASH", "a head that was noted earlier: record SEQ must exist and have this hash"),
  schema: z.strictObject({ seq: z.int(), hash: z.string() }),
  expected: 'a record\'s number, ":" and 64 hexadecimal digits',
  read: (typed) => {
    const [, seq, hash] = /^(\d{1,12}):([0-9a-fA-F]{64})$/.exec(typed) ?? [];
    if (seq === undefined || hash === undefined || Number(seq) > auditLimits.seqMax) return undefined;
    return { seq: Number(seq), hash: hash.toLowerCase() };
  },
};

export const command = defineCommand({
  name: "audit verify",
  description: `Reads an audit log and says where the first record was removed, altered, added, repeated or moved. Next
to each named file it finds the log's head and the older files of the log. The log can be in use meanwhile.

Keep a copy of the printed head out of reach of everyone who can write to the log. Whoever can write to a log and its
head can forge both, and only --head detects that.`,
  fields: {
    logs: { ...listOf(text("LOG", "files of the log")), isRequired: true },
    head: optional(noted),
    partial: flag("LOG is part of a log: it need not begin with record 0, and its head can be elsewhere"),
    json: jsonField,
  },
  operands: ["logs"],
  examples: ["memcell audit verify log/audit.jsonl", "memcell audit verify log/audit.jsonl --head 41:6eca4050...71286"],
  exitCodes: ["the log is intact", "the log is not intact, or cannot be read"],

  async run({ input: { logs = [], head, partial, json }, terminal }) {
    const result = verifyLog(logs, { isPartial: partial === true, ...(head && { noted: head }) });
    printResult(terminal, json, result, linesOfVerification(result));
    return result.isIntact ? 0 : 1;
  },
});

export function linesOfVerification(result: LogVerification): string[] {
  const { isIntact, files, records, bytes, firstSeq, head, broken, notes } = result;
  const range = head === null ? "" : `, ${firstSeq} to ${head.seq}`;
  return [
    `${isIntact ? "PASS" : "FAIL"}  ${counted(records, "record")}${range}, in ${counted(files, "file")}, ${bytes} bytes`,
    ...(broken === null ? [] : [`  ${placeOf(broken)}${broken.text}`]),
    ...notes.map((note) => `  note: ${note}`),
    ...(head === null ? [] : [`head  ${head.seq}:${head.hash}`]),
    ...(result.isEndKnown ? [] : ["note  only the log itself says where it ends"]),
  ];
}

/** A file can have any name, so characters that reverse text or control a terminal are escaped. */
function placeOf({ file, line }: BrokenLog): string {
  return file === null ? "" : `${quoted(file, 200)} line ${line}: `;
}
