/**
 * `npm run new-family NAME`, after the compiler: creates a working plugin family, for you to change.
 *
 * usage: node dist/build/new-family/main.js NAME
 */
import { parseArgs } from "node:util";

import { whyNoName } from "./check-name.ts";
import { policyFile } from "./grant.ts";
import { layDown } from "./lay-down.ts";

const help = `Creates a working plugin family, for you to change

Usage
  npm run new-family NAME

NAME  1 to 32 characters of a-z, 0-9 and single "-" between them, a letter first. It is the name of the folder below
      plugin/, of the plugin, and of the folder (scope) for a user's files. Tool names begin with it: NAME_write, NAME_read.

The command writes the family's code and pages, its conformance vectors and a unit test, builds the plugin, and adds its
grant to ${policyFile}. It overwrites no existing file. If the command fails, it
leaves no files behind.

Exit codes
  0 created   1 not created   2 invalid command line
`;

process.exitCode = await run(process.argv.slice(2));

async function run(args: string[]): Promise<number> {
  const name = nameIn(args);
  if (name === "help") {
    process.stdout.write(help);
    return 0;
  }
  if (name === null) {
    process.stderr.write(help);
    return 2;
  }
  const reason = await whyNoName(name);
  if (reason !== null) {
    console.error(`Cannot name a family ${JSON.stringify(name)}: ${reason}`);
    return 1;
  }
  try {
    tell(name, await layDown(name));
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** Returns `null` for an invalid command line. */
function nameIn(args: string[]): string | null {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { help: { type: "boolean" } } });
    if (values.help) return "help";
    const [name, ...others] = positionals;
    return name === undefined || others.length > 0 ? null : name;
  } catch {
    return null;
  }
}

function tell(name: string, { files, grant }: Awaited<ReturnType<typeof layDown>>): void {
  const tool = `${name.replaceAll("-", "_")}_write`;
  const lines = [
    `Created family "${name}":`,
    ...files.map((file) => `  ${file}`),
    "",
    `Its plugin can do only what its grant says. These are the new lines in ${policyFile};`,
    "reviewers read them first:",
    ...grant,
    "",
    "The plugin is built, and every command can load it by its name. Next:",
    `  npx vitest run --config test/vitest.config.ts --project fast -t ${tool.replace(/write$/, "")} test/unit test/conformance`,
    `  node dist/host/cli/main.js call ${tool} --plugin ${name} --user alice --input '{"name":"greeting","text":"Good morning"}'`,
    "",
    "plugin/README.md explains each file. Commit the plugin's hash in build/plugins.lock.json with the family; after",
    `changes, "npm run build -- --only ${name}" updates it.`,
  ];
  console.log(lines.join("\n"));
}
