import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { listOf, optional, text } from "../../owner/field.ts";
import { add } from "../../owner/operations/entries.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { defineCommand, jsonField, userField } from "../command.ts";
import { keepingText, writtenText } from "../editor.ts";
import { openForUser } from "../open-runtime.ts";
import { shownTold } from "../print-told.ts";

export const addCommand = defineCommand({
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
  examples: ["memcell add I am allergic to nuts", "memcell add --name allergies < allergies.txt"],
  exitCodes: ["added", "failed"],

  async run({ input: { text: words = [], name, family, user, json }, settings, terminal }) {
    const typed = { text: words.join(" "), file: null, drop: async () => {} };
    const written = words.length > 0 ? typed : await writtenText(terminal, "");
    if (written.text.trim() === "") {
      await written.drop();
      throw new UsageError("the text is empty; expected what to remember");
    }
    const added = await keepingText(terminal, written, async () => {
      await using opened = await openForUser({ settings, terminal }, user, { besides: "all" });
      return await opened.runtime.upkeep.add({ userId: opened.userId }, written.text, { name, family });
    });
    const shown = `Added ${added.name}; to see it: memcell show ${added.name}`;
    terminal.stdout.write(json ? `${visibleJson(added)}\n` : shownTold([shown], terminal.stdout));
    return 0;
  },
});
