import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { add } from "../../owner/edit.ts";
import { listOf, optional, text } from "../../owner/field.ts";
import { defineCommand, jsonField, personsSettings, userField } from "../command.ts";
import { saveWritten } from "../editor.ts";
import { openForUser } from "../open-runtime.ts";
import { printResult } from "../print-told.ts";

export const command = defineCommand({
  name: "add",
  description: `Remembers a text: as an entry whose name and summary are made of it. No entry that is there changes. Without TEXT, your editor
($VISUAL or $EDITOR) opens; if standard input is no terminal, it is the text.`,
  fields: {
    text: listOf(text("TEXT", "what to remember (default: standard input, or what you write in your editor)")),
    name: add.fields.name,
    family: add.fields.family,
    user: optional(userField("the user (default: the only one, or serve.user of the settings)")),
    json: jsonField,
  },
  operands: ["text"],
  settings: runtimePaths,
  settingsShown: personsSettings,
  examples: ["memcell add I am allergic to nuts", "memcell add --name allergies < allergies.txt"],
  exitCodes: ["added", "failed"],

  async run({ input: { text: words = [], name, family, user, json }, settings, terminal }) {
    const save = async (written: string): Promise<number> => {
      await using opened = await openForUser({ settings, terminal }, user, { besides: "all" });
      const added = await opened.runtime.upkeep.add({ userId: opened.userId }, written, { name, family });
      const shown = `Added ${added.name}; to see it: memcell show ${added.name}`;
      printResult(terminal, json, added, [shown]);
      return 0;
    };
    if (words.join("").trim() !== "") return await save(words.join(" "));
    if (words.length > 0) throw new UsageError("the text is empty, so nothing is added");
    return await saveWritten(terminal, { before: "", ifEmpty: "nothing is added", save });
  },
});
