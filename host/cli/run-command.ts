import { quoted } from "../../shared/text.ts";
import { UsageError } from "../config/usage-error.ts";
import { ToolError } from "../values/tool-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import type { Command } from "./command.ts";
import { Parser } from "./commander.ts";

/** Each with what it does. */
const summaries = {
  call: "calls a tool for a user and prints its result as JSON",
  index: "prints a user's index as it enters a system prompt",
  tools: "prints the tools a model may call, with their JSON Schemas, or the page of one",
  doctor: "finds what is wrong with users' files, and mends it",
  trash: "lists, restores and purges what was deleted",
  export: "writes a user's memory into a zip file",
  import: "adds the memory in a zip file to a user's",
  serve: "serves memory to MCP clients: one user's over standard input and output, many users' over HTTP",
  audit: "tells what a plugin file may do and whether the policy grants it",
  "audit verify": "finds what was removed from an audit log, or altered",
  config: "prints every setting with its value and where it comes from",
};

type CommandName = keyof typeof summaries;

/** Each loads what it needs when it is asked for: a call does not wait for the pages of an audit. */
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  call: async () => (await import("./call-command.ts")).callCommand,
  index: async () => (await import("./index-command.ts")).indexCommand,
  tools: async () => (await import("./tools-command.ts")).toolsCommand,
  doctor: async () => (await import("./doctor-command.ts")).doctorCommand,
  trash: async () => (await import("./trash-command.ts")).trashCommand,
  export: async () => (await import("./export-command.ts")).exportCommand,
  import: async () => (await import("./import-command.ts")).importCommand,
  serve: async () => (await import("./serve-command.ts")).serveCommand,
  audit: async () => (await import("./audit-command.ts")).auditCommand,
  "audit verify": async () => (await import("./verify-command.ts")).verifyCommand,
  config: async () => (await import("./config-command.ts")).configCommand,
};

const more = `Settings come from flags, MEMCELL_* environment variables and memcell.config.json (or --config FILE).
"memcell <command> --help" lists those of a command, "memcell config --help" all.

Examples:
  memcell tools
  memcell call <Tool> --user alice --input '{"name":"editor"}'
  memcell index --user alice

Exit codes:
  0 the tool succeeded   1 the tool failed   2 the command line makes no sense
`;

/** Resolves to the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === undefined || ["--help", "-h", "help"].includes(first)) {
    process[first === undefined ? "stderr" : "stdout"].write(overview());
    return first === undefined ? 2 : 0;
  }
  const named = [args.slice(0, 2).join(" "), first].find((name) => Object.hasOwn(summaries, name));
  if (named !== undefined) return await run(named as CommandName, args.slice(named.split(" ").length));
  const allowed = Object.keys(summaries).join(", ");
  process.stderr.write(`memcell: no command ${quoted(first)}, allowed: ${allowed}\n`);
  return 2;
}

/** The help of all commands. It knows nothing of settings, for they take longer to load than all else. */
function overview(): string {
  const parser = new Parser("memcell").helpCommand(false);
  parser.description("Memory tools for LLM agents, run in a WebAssembly sandbox").usage("<command> [options]");
  for (const [name, summary] of Object.entries(summaries)) parser.addCommand(new Parser(name).description(summary));
  return `${parser.helpInformation()}\n${more}`;
}

async function run(name: CommandName, args: readonly string[]): Promise<number> {
  const command = await commands[name]();
  const { readCommandLine } = await import("./command-line.ts");
  try {
    const line = readCommandLine(command, args);
    if ("help" in line) {
      process.stdout.write(line.help);
      return 0;
    }
    checkPresentFolder();
    return await command.run(line);
  } catch (error) {
    if (error instanceof ToolError) {
      process.stdout.write(`${visibleJson(resultOf(envelopeOf(error)))}\n`);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    // It shows arguments as they came, and a shell's pattern takes names that others gave their files.
    process.stderr.write(`memcell ${name}: ${visibleText(error.message)}\nTry "memcell ${name} --help"\n`);
    return 2;
  }
}

/** Names of files are relative to it, and threads ask where it is: without it nothing else could be told apart. */
function checkPresentFolder(): void {
  try {
    process.cwd();
  } catch (error) {
    throw new UsageError("the present folder is not there any more, allowed: one that is there", { cause: error });
  }
}
