import { quoted } from "../../shared/text.ts";
import { UsageError } from "../config/usage-error.ts";
import { ToolError } from "../values/tool-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import { overview, readCommandLine } from "./command-line.ts";
import type { Command } from "./command.ts";

interface Listed {
  readonly summary: string;
  /** Each loads what it needs when it is asked for: a call does not wait for the pages of an audit. */
  readonly load: () => Promise<Command>;
}

const commands: ReadonlyMap<string, Listed> = new Map(
  Object.entries({
    call: {
      summary: "calls a tool for a user and prints its result as JSON",
      load: async () => (await import("./call-command.ts")).callCommand,
    },
    index: {
      summary: "prints a user's index as it enters a system prompt",
      load: async () => (await import("./index-command.ts")).indexCommand,
    },
    tools: {
      summary: "prints the tools a model may call, with their JSON Schemas, or the page of one",
      load: async () => (await import("./tools-command.ts")).toolsCommand,
    },
    doctor: {
      summary: "finds what is wrong with users' files, and mends it",
      load: async () => (await import("./doctor-command.ts")).doctorCommand,
    },
    trash: {
      summary: "lists, restores and purges what was deleted",
      load: async () => (await import("./trash-command.ts")).trashCommand,
    },
    export: {
      summary: "writes a user's memory into a zip file",
      load: async () => (await import("./export-command.ts")).exportCommand,
    },
    import: {
      summary: "adds the memory in a zip file to a user's",
      load: async () => (await import("./import-command.ts")).importCommand,
    },
    serve: {
      summary: "serves memory to MCP clients: one user's over standard input and output, many users' over HTTP",
      load: async () => (await import("./serve-command.ts")).serveCommand,
    },
    audit: {
      summary: "tells what a plugin file may do and whether the policy grants it",
      load: async () => (await import("./audit-command.ts")).auditCommand,
    },
    "audit verify": {
      summary: "finds what was removed from an audit log, or altered",
      load: async () => (await import("./verify-command.ts")).verifyCommand,
    },
    config: {
      summary: "prints every setting with its value and where it comes from",
      load: async () => (await import("./config-command.ts")).configCommand,
    },
  }),
);

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
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    const summaries = new Map(Array.from(commands, ([name, { summary }]) => [name, summary]));
    process[first === undefined ? "stderr" : "stdout"].write(overview(summaries, more));
    return first === undefined ? 2 : 0;
  }
  const both = args.slice(0, 2).join(" ");
  const listed = commands.get(both) ?? commands.get(first);
  if (listed) return await runLoaded(await listed.load(), args.slice(commands.has(both) ? 2 : 1));
  process.stderr.write(`memcell: no command ${quoted(first)}, allowed: ${[...commands.keys()].join(", ")}\n`);
  return 2;
}

async function runLoaded(command: Command, args: readonly string[]): Promise<number> {
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
    const { name } = command;
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
