import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { optional } from "../../owner/field.ts";
import { fileFields } from "../../owner/find-file.ts";
import type { NamedFile } from "../../owner/find-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { defineCommand, jsonField, personsSettings, userField } from "../command.ts";
import { saveWritten } from "../editor.ts";
import { openForUser } from "../open-runtime.ts";
import { printResult } from "../print-told.ts";

export const command = defineCommand({
  name: "edit",
  description: `Opens the text of an entry in your editor ($VISUAL or $EDITOR) and saves what you have written. If standard input is no
terminal, it is the new text. The index is made to fit. From then on the text is trusted as yours. What the text was before stays in
the history.

If the entry has changed meanwhile, or cannot be saved so, nothing changes, and the command names the file with your text.`,
  fields: {
    ...fileFields,
    user: optional(userField("the user (default: the only one, or serve.user of the settings)")),
    json: jsonField,
  },
  operands: ["name"],
  settings: runtimePaths,
  settingsShown: personsSettings,
  examples: ["memcell edit editor", "memcell edit editor < editor.md"],
  exitCodes: ["saved, or nothing to save", "failed"],

  async run(line) {
    const { name, scope, user, json } = line.input;
    const { place, text: before, userId } = await readEntry(line, user, { name, scope });
    // Nothing is open while a person writes: others need the audit log.
    return await saveWritten(line.terminal, {
      before,
      ifEmpty: `nothing is saved; memcell forget ${name} removes it`,
      async save(written) {
        if (written !== before) {
          await using opened = await openForUser(line, userId, { besides: "all", isOwners: true });
          const choice = { scope: place.scope, ifSha256: place.sha256 };
          await opened.runtime.upkeep.edit({ userId }, place.path, written, choice);
        }
        const outcome = written === before ? "unchanged" : "saved";
        printResult(line.terminal, json, { name, outcome }, [`${name}: ${outcome}`]);
        return 0;
      },
    });
  },
});

type Line = Parameters<typeof openForUser>[0];

/** Throws what would keep the text from being saved, before anybody writes it. */
async function readEntry(line: Line, user: string | undefined, { name, scope }: NamedFile) {
  await using opened = await openForUser(line, user, { besides: "all", isOwners: true, isReading: true });
  const { runtime, userId } = opened;
  const { file: place, text: before, isDerived } = await runtime.upkeep.entry({ userId }, name, { scope });
  const refusal = `Cannot edit ${quoted(name)}`;
  if (runtime.asReadOnly() === runtime) throw new ToolError("READ_ONLY", `${refusal}: the runtime is read-only`);
  if (isDerived) throw new ToolError("INPUT_INVALID", `${refusal}: its plugin makes it from other files`);
  if (before === null) throw new ToolError("ENTRY_UNREADABLE", `${refusal}: it is not UTF-8 text`);
  return { place, text: before, userId };
}
