import { nearestName } from "../../shared/nearest-name.ts";
import { quoted } from "../../shared/text.ts";
import { isFileIgnored } from "../config/find-config-file.ts";
import { UsageError } from "../config/usage-error.ts";
import { ToolError } from "../values/tool-error.ts";
import { failedResult } from "../values/tool-result.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import type { Command } from "./command.ts";
import { Parser } from "./commander.ts";
import type { Output, Terminal } from "./terminal.ts";

/** A command of its own. It is loaded on demand, so that a call does not wait for the code of the audit pages. */
type OtherCommand = readonly [summary: string, load: () => Promise<{ readonly command: Command }>];

const groups = {
  owner: "Your memory:",
  trash: "Deleted files:",
  stores: "Shared stores:",
  operator: "For operators:",
  program: "For programs:",
};

/** Those that are not made from an operation of the owner. */
const others: Readonly<Record<"owner" | "operator" | "program", Readonly<Record<string, OtherCommand>>>> = {
  owner: {
    add: ["remembers a text", () => import("./commands/add-command.ts")],
    edit: ["opens an entry in your editor and saves what you have written", () => import("./commands/edit-command.ts")],
    open: ["shows what is remembered as a page in your browser", () => import("./commands/open-command.ts")],
    export: ["writes a user's memory into a zip file, JSON or a folder", () => import("./commands/export-command.ts")],
    import: [
      "moves in what another program or an export has: plans first",
      () => import("./commands/import-command.ts"),
    ],
  },
  operator: {
    users: ["lists the users of whom something is stored", () => import("./commands/users-command.ts")],
    doctor: ["finds and mends problems in users' files", () => import("./commands/doctor-command.ts")],
    serve: [
      "serves memory to MCP clients: one user's over standard input and output, many users' over HTTP",
      () => import("./commands/serve-command.ts"),
    ],
    audit: [
      "reports what a plugin file can do and whether the policy grants it",
      () => import("./commands/audit-command.ts"),
    ],
    "audit verify": ["finds removed or altered records in an audit log", () => import("./commands/verify-command.ts")],
    config: ["prints every setting with its value and its source", () => import("./commands/config-command.ts")],
    copy: ["copies everything from one data folder or database to another", () => import("./commands/copy-command.ts")],
    db: [
      "creates or upgrades the schema of a PostgreSQL database, or checks it",
      () => import("./commands/db-command.ts"),
    ],
  },
  program: {
    call: ["calls a tool for a user and prints its result as JSON", () => import("./commands/call-command.ts")],
    tools: [
      "prints the tools that a model can call with their JSON Schemas, or the page of one tool",
      () => import("./commands/tools-command.ts"),
    ],
    index: ["prints a user's index as it appears in a system prompt", () => import("./commands/index-command.ts")],
    runs: ["lists, shows and deletes the runs of agents", () => import("./commands/runs-command.ts")],
  },
};

const allOthers = { ...others.owner, ...others.operator, ...others.program };

const more = `Settings come from flags, MEMCELL_* environment variables and the config file (--config PATH, or the user's own).
"memcell <command> --help" shows how a command is used, "memcell config --help" lists all settings.

Examples:
  memcell waiting
  memcell history editor
  memcell tools
  memcell call <Tool> --user alice --input '{"name":"editor"}'
  memcell index --user alice

Exit codes:
  0 done   1 failed   2 the command line or a setting is invalid
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
    terminal[first === undefined ? "stderr" : "stdout"].write(await overview());
    return first === undefined ? 2 : 0;
  }
  const { ownerCommands, commandOf } = await import("./owner-command.ts");
  const names = [...ownerCommands.keys(), ...Object.keys(allOthers)];
  const { name, rest } = namedBy(args, names);
  const ofOwner = ownerCommands.get(name);
  const command = ofOwner ? commandOf(name, ofOwner) : (await allOthers[name]?.[1]())?.command;
  if (command !== undefined) return await run(command, rest, terminal);
  const firstWords = names.map((each) => each.split(" ", 1)[0] ?? each);
  const begun = names.filter((each) => each.startsWith(`${first} `));
  const typed = quoted(begun.length > 0 ? args.slice(0, 2).join(" ") : first);
  const expected = begun.length > 0 ? begun.join(", ") : `one of those that "memcell help" lists`;
  const nearest = begun.length > 0 ? "" : `; did you mean ${nearestName(first, firstWords)}?`;
  terminal.stderr.write(`memcell: no command ${typed}${nearest}; expected ${expected}\n`);
  return 2;
}

/** The command that arguments name. The second word of a name can come after options: "trash --user alice list". */
function namedBy(args: readonly string[], names: readonly string[]): { name: string; rest: readonly string[] } {
  const [first = "", ...words] = args;
  const isSecond = (word: string, at: number): boolean =>
    names.includes(`${first} ${word}`) && (at === 0 || !names.includes(first));
  // In "trash --user list purge", a user is called list.
  const isValue = (at: number): boolean => words[at - 1]?.startsWith("--") === true;
  const found = words.findIndex((word, at) => isSecond(word, at) && !isValue(at));
  const at = found >= 0 ? found : words.findIndex(isSecond);
  if (at >= 0) return { name: `${first} ${words[at]}`, rest: words.toSpliced(at, 1) };
  return { name: names.includes(first) ? first : "", rest: words };
}

/** The help of all commands. It leaves out the settings. */
async function overview(): Promise<string> {
  const { ownerCommands } = await import("./owner-command.ts");
  const parser = new Parser("memcell").helpCommand(false).option("-V, --version", "prints the version");
  parser
    .description("Memory for LLM agents that its owner can see, correct and take along")
    .usage("<command> [options]");
  const add = (name: string, summary: string, group: keyof typeof groups): void =>
    void parser.addCommand(new Parser(name).description(summary).helpGroup(groups[group]));
  for (const [name, { command }] of ownerCommands) {
    const [first = ""] = name.split(" ");
    if (name === command.name) add(name, command.summary, first === "trash" || first === "stores" ? first : "owner");
  }
  for (const group of ["owner", "operator", "program"] as const) {
    for (const [name, [summary]] of Object.entries(others[group])) add(name, summary, group);
  }
  return `${parser.helpInformation()}\n${more}`;
}

async function run(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  const { name } = command;
  const isForPrograms = command.isForPrograms === true || args.includes("--json");
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
      if (isForPrograms) terminal.stdout.write(`${visibleJson(failedResult(error))}\n`);
      else await tell(`memcell ${name}: ${visibleText(sentencesOf(error))}`, terminal.stderr);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    // The message contains raw arguments, and a shell pattern can expand to file names that others have chosen.
    await tell(`memcell ${name}: ${visibleText(error.message)}`, terminal.stderr);
    await tell(`Try "memcell ${name} --help"`, terminal.stderr);
    return 2;
  }
}

async function tell(line: string, output: Output): Promise<void> {
  const { fitted } = await import("./print-told.ts");
  output.write(`${fitted(line, output)}\n`);
}

const sentencesOf = ({ message, hint }: ToolError): string => (hint ? `${message}. ${hint}` : message);

/** Whoever made the working directory can have put the file there, so it decides nothing without being named. */
const ignoredFile = 'memcell: "memcell.config.json" of the working directory is not read; to read it: --config .\n';

/** File names are relative to the working directory, and threads ask for it. Without it, other errors would mislead. */
function checkPresentFolder(): void {
  try {
    process.cwd();
  } catch (error) {
    throw new UsageError("the working directory no longer exists; expected an existing one", { cause: error });
  }
}
