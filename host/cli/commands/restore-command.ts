import { runtimePaths } from "../../config/settings.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { versionNumber } from "../version-number.ts";

export const restoreCommand = defineCommand({
  name: "restore",
  description: `Puts the content of a version of a file back, also of a file that was removed. It becomes a new version, which
is trusted no more than the old one; what it replaces stays in the history. The index is made to fit. For the owner of
the data; tools cannot do this.

What was deleted also lies in the trash: "memcell trash restore" needs no version.`,
  operands: { "<NAME>": "the path of a file, or the name of an entry" },
  requiredTexts: {
    user: ["ID", "the user whose file it is"],
    version: ["N", 'the number of the version, as "memcell history NAME" shows it'],
  },
  texts: { scope: ["SCOPE", "the file's scope, if files of several scopes have the name"] },
  flags: { json: "prints JSON" },
  settings: runtimePaths,
  examples: ["memcell restore editor --version 3 --user alice"],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [name = ""], options, settings, terminal }) {
    const { user: userId, scope, json } = options;
    const version = versionNumber("--version", options.version);
    await using runtime = await openRuntime({ settings, terminal }, userId, { besides: "all", isOwners: true });
    const work = () => runtime.upkeep.restoreVersion({ userId }, name, { version, scope });
    const restored = await withProgress(terminal, "restore", work, json);
    const { path, outcome } = restored;
    const place = visibleText(`${restored.scope}/${path}`);
    terminal.stdout.write(json ? `${visibleJson(restored)}\n` : `${place}: ${outcome}, as in version ${version}\n`);
    return 0;
  },
});
