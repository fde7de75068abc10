import { quoted } from "../../shared/text.ts";
import { isFileIgnored } from "../config/find-config-file.ts";
import { UsageError } from "../config/usage-error.ts";
import { ToolError } from "../values/tool-error.ts";
import { failedResult } from "../values/tool-result.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import type { Command } from "./command.ts";
import { Parser } from "./commander.ts";
import type { Terminal } from "./terminal.ts";

const summaries = {
  call: "calls a tool for a user and prints its result as JSON",
  index: "prints a user's index as it appears in a system prompt",
  tools: "prints the tools that a model can call with their JSON Schemas, or the page of one tool",
  doctor: "finds and mends problems in users' files",
  trash: "lists, restores and purges deleted files",
  pending: "shows the writes that wait for the owner of the memory, and applies or drops them",
  history: "prints every version of a user's files, and how far each is trusted",
  diff: "prints the difference of two versions of a file",
  restore: "puts an earlier version of a file back",
  undo: "takes back what a run, a source, or everything since a time has changed",
  runs: "lists, shows and deletes the runs of agents",
  stores: "lists the shared stores that a user reaches; grants and revokes access to the user's own",
  export: "writes a user's memory into a zip file",
  import: "adds the memory in a zip file to a user's memory",
  erase: "erases a user with everything that is stored",
  serve: "serves memory to MCP clients: one user's over standard input and output, many users' over HTTP",
  audit: "reports what a plugin file can do and whether the policy grants it",
  "audit verify": "finds removed or altered records in an audit log",
  config: "prints every setting with its value and its source",
  copy: "copies everything between a data folder and a database",
  db: "brings a PostgreSQL database to the present version, or checks it",
};

type CommandName = keyof typeof summaries;

/** Each command is loaded on demand, so that a call does not wait for the code of the audit pages. */
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  call: async () => (await import("./commands/call-command.ts")).callCommand,
  index: async () => (await import("./commands/index-command.ts")).indexCommand,
  tools: async () => (await import("./commands/tools-command.ts")).toolsCommand,
  doctor: async () => (await import("./commands/doctor-command.ts")).doctorCommand,
  trash: async () => (await import("./commands/trash-command.ts")).trashCommand,
  pending: async () => (await import("./commands/pending-command.ts")).pendingCommand,
  history: async () => (await import("./commands/history-command.ts")).historyCommand,
  diff: async () => (await import("./commands/diff-command.ts")).diffCommand,
  restore: async () => (await import("./commands/restore-command.ts")).restoreCommand,
  undo: async () => (await import("./commands/undo-command.ts")).undoCommand,
  runs: async () => (await import("./commands/runs-command.ts")).runsCommand,
  stores: async () => (await import("./commands/stores-command.ts")).storesCommand,
  export: async () => (await import("./commands/export-command.ts")).exportCommand,
  import: async () => (await import("./commands/import-command.ts")).importCommand,
  erase: async () => (await import("./commands/erase-command.ts")).eraseCommand,
  serve: async () => (await import("./commands/serve-command.ts")).serveCommand,
  audit: async () => (await import("./commands/audit-command.ts")).auditCommand,
  "audit verify": async () => (await import("./commands/verify-command.ts")).verifyCommand,
  copy: async () => (await import("./commands/copy-command.ts")).copyCommand,
  db: async () => (await import("./commands/db-command.ts")).dbCommand,
  config: async () => (await import("./commands/config-command.ts")).configCommand,
};

const more = `Settings come from flags, MEMCELL_* environment variables and the config file (--config PATH, or the user's own).
"memcell <command> --help" lists the settings of a command, "memcell config --help" lists all settings.

Examples:
  memcell tools
  memcell call <Tool> --user alice --input '{"name":"editor"}'
  memcell index --user alice

Exit codes:
  0 the tool succeeded   1 the tool failed   2 the command line or a setting is invalid
`;

/** Resolves to the exit code. Relative names of files are below the working directory of the process. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = args;
  if (first === "--version" || first === "-V") {
    const { version } = await import("../values/version.ts");
    terminal.stdout.write(`${version}\n`);
    return 0;
  }
  if (first === undefined || ["--help", "-h", "help"].includes(first)) {
    terminal[first === undefined ? "stderr" : "stdout"].write(overview());
    return first === undefined ? 2 : 0;
  }
  const named = [args.slice(0, 2).join(" "), first].find((name) => Object.hasOwn(summaries, name));
  if (named !== undefined) return await run(named as CommandName, args.slice(named.split(" ").length), terminal);
  const allowed = Object.keys(summaries).join(", ");
  terminal.stderr.write(`memcell: no command ${quoted(first)}, allowed: ${allowed}\n`);
  return 2;
}

/** The help of all commands. It leaves out the settings, because they take longest to load. */
function overview(): string {
  const parser = new Parser("memcell").helpCommand(false).option("-V, --version", "prints the version");
  parser.description("Memory tools for LLM agents, run in a WebAssembly sandbox").usage("<command> [options]");
  for (const [name, summary] of Object.entries(summaries)) parser.addCommand(new Parser(name).description(summary));
  return `${parser.helpInformation()}\n${more}`;
}

async function run(name: CommandName, args: readonly string[], terminal: Terminal): Promise<number> {
  const command = await commands[name]();
  const { readCommandLine } = await import("./command-line.ts");
  try {
    const line = readCommandLine(command, args, terminal);
    if ("help" in line) {
      terminal.stdout.write(line.help);
      return 0;
    }
    checkPresentFolder();
    if (await isFileIgnored(line.settings)) terminal.stderr.write(ignoredFile);
    return await command.run(line);
  } catch (error) {
    if (error instanceof ToolError) {
      terminal.stdout.write(`${visibleJson(failedResult(error))}\n`);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    // The message contains raw arguments, and a shell pattern can expand to file names that others have chosen.
    terminal.stderr.write(`memcell ${name}: ${visibleText(error.message)}\nTry "memcell ${name} --help"\n`);
    return 2;
  }
}

/** Whoever made the working directory can have put the file there, so it decides nothing without being named. */
const ignoredFile = 'memcell: "memcell.config.json" of the working directory is not read; to read it: --config .\n';

/** File names are relative to the working directory, and threads ask for it. Without it, other errors would mislead. */
function checkPresentFolder(): void {
  try {
    process.cwd();
  } catch (error) {
    throw new UsageError("the working directory no longer exists, allowed: an existing one", { cause: error });
  }
}
