import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { optional, text } from "../../owner/field.ts";
import { ToolError } from "../../values/tool-error.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand, jsonField, userField } from "../command.ts";
import { writtenText } from "../editor.ts";
import { openForUser } from "../open-runtime.ts";

export const editCommand = defineCommand({
  name: "edit",
  description: `Opens the text of an entry in your editor ($VISUAL or $EDITOR) and saves what you have written. If standard input is no
terminal, it is the new text. The index is made to fit. From then on the text is trusted as yours. What the text was before stays in
the history.

If the entry has changed meanwhile, or cannot be saved so, nothing changes, and the command names the file with your text.`,
  fields: {
    name: text("NAME", "the name of an entry, or the path of a file"),
    scope: optional(text("SCOPE", "the scope of the file, if files of several scopes have the name")),
    user: optional(userField("the user (default: the only one, or serve.user of the settings)")),
    json: jsonField,
  },
  operands: ["name"],
  settings: runtimePaths,
  examples: ["memcell edit editor", "memcell edit editor < editor.md"],
  exitCodes: ["saved, or nothing to save", "failed"],

  async run({ input: { name, scope, user, json }, settings, terminal }) {
    await using opened = await openForUser({ settings, terminal }, user, { besides: "all", isOwners: true });
    const { runtime, userId } = opened;
    const { file, text: before } = await runtime.upkeep.entry({ userId }, name, { scope });
    if (before === null) throw new ToolError("ENTRY_UNREADABLE", `Cannot edit ${name}: it is not UTF-8 text`);
    const written = await writtenText(terminal, before);
    if (written.text.trim() === "")
      throw new UsageError(`the text is empty, so nothing is saved; memcell forget ${name} removes it`);
    if (written.text !== before) {
      const choice = { scope: file.scope, ifSha256: file.sha256 };
      try {
        await runtime.upkeep.edit({ userId }, file.path, written.text, choice);
      } catch (error) {
        if (written.file !== null) terminal.stderr.write(`Your text is in ${visibleText(written.file)}\n`);
        throw error;
      }
    }
    await written.drop();
    const outcome = written.text === before ? "unchanged" : "saved";
    terminal.stdout.write(json ? `${visibleJson({ name, outcome })}\n` : `${visibleText(name)}: ${outcome}\n`);
    return 0;
  },
});
