/**
 * `npm run new-family NAME`, after the compiler: lays down a plugin family that works, to be changed into what it is to be.
 *
 * usage: node dist/build/new-family/main.js NAME
 */
import { parseArgs } from "node:util";

import { whyNoName } from "./check-name.ts";
import { policyFile } from "./grant.ts";
import { layDown } from "./lay-down.ts";

const help = `Lays down a new plugin family that works, to be changed into what it is to be

Usage
  npm run new-family NAME

NAME  1 to 32 characters of a-z, 0-9 and single "-" between them, a letter first. It names the folder below plugin/,
      the plugin, and the folder (scope) in which it keeps a user's files; its tools begin with it: NAME_write, NAME_read.

It writes the family's code and pages, its conformance vectors and a unit test, builds the plugin, and then writes its
grant in ${policyFile}. Nothing that is there is overwritten; when something fails,
nothing is left behind.

Exit codes
  0 laid down   1 not laid down   2 the command line makes no sense
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
    console.error(`Cannot call a family ${JSON.stringify(name)}: ${reason}`);
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

/** `null` for a command line that makes no sense. */
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
    `Family "${name}" is laid down:`,
    ...files.map((file) => `  ${file}`),
    "",
    `It may do what its grant says, and nothing else. These lines are new in ${policyFile};`,
    "whoever reviews the family reads them first:",
    ...grant,
    "",
    "It is built, and every command knows it. Next:",
    `  npx vitest run --config test/vitest.config.ts --project memcell -t ${tool.replace(/write$/, "")} test/unit test/conformance`,
    `  npx memcell call ${tool} --user alice --input '{"name":"greeting","text":"Good morning"}'`,
    "",
    "plugin/README.md says what each file is for. Its hash in build/plugins.lock.json is committed with it: after changes,",
    `"npm run build -- --only ${name}" writes it anew.`,
  ];
  console.log(lines.join("\n"));
}
