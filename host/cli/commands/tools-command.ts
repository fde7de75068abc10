import { quoted } from "../../../shared/text.ts";
import { catalogPaths } from "../../config/settings.ts";
import { optional, text } from "../../owner/field.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { asAlways, defineCommand } from "../command.ts";
import { openCatalog } from "../open-runtime.ts";

export const command = defineCommand({
  name: "tools",
  description: `Prints the tools that a model can call as a JSON array: name, description, JSON Schemas of input and
output, rights. With --doc, prints the page of one tool.`,
  isForPrograms: true,
  fields: {
    json: asAlways,
    doc: optional(text("NAME", "prints this tool's page, in Markdown: its purpose, parameters, examples and errors")),
  },
  settings: catalogPaths,
  examples: ["memcell tools > tools.json", "memcell tools --doc <Tool>"],
  exitCodes: ["printed", "failed; or the tool has no page"],

  async run({ input: { doc }, settings, terminal }) {
    await using runtime = await openCatalog({ settings, terminal });
    const page = doc === undefined ? visibleJson(runtime.tools()) : runtime.documentation(doc);
    if (page === null) {
      terminal.stderr.write(`memcell tools: the tool ${quoted(doc ?? "")} has no page\n`);
      return 1;
    }
    // The page needs no escapes: the host refuses a plugin whose pages contain characters that control a terminal.
    terminal.stdout.write(page.endsWith("\n") ? page : `${page}\n`);
    return 0;
  },
});
