import { quoted } from "../../shared/text.ts";
import { HelpRequest, UsageError } from "../config/usage-error.ts";
import { visibleText } from "../values/visible-text.ts";
import type { Command } from "./command.ts";

/** Each loads what it needs when it is asked for: a call does not wait for the pages of an audit. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["call", async () => (await import("./call-command.ts")).callCommand],
  ["index", async () => (await import("./index-command.ts")).indexCommand],
  ["tools", async () => (await import("./tools-command.ts")).toolsCommand],
  ["doctor", async () => (await import("./doctor-command.ts")).doctorCommand],
  ["trash", async () => (await import("./trash-command.ts")).trashCommand],
  ["export", async () => (await import("./export-command.ts")).exportCommand],
  ["import", async () => (await import("./import-command.ts")).importCommand],
  ["serve", async () => (await import("./serve-command.ts")).serveCommand],
  ["audit", async () => (await import("./audit-command.ts")).auditCommand],
  ["config", async () => (await import("./config-command.ts")).configCommand],
]);

const help = `memcell: memory tools for LLM agents, run in a WebAssembly sandbox

Usage
  memcell call <Tool> --user ID [--data DIR] [--input JSON] [--policy FILE] [--audit-log FILE]
  memcell index --user ID [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell tools [--doc NAME] [--policy FILE]
  memcell doctor [--user ID] [--fix] [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell trash list | restore NAME | purge --older-than AGE  --user ID [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell export --user ID FILE.zip [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell import --user ID FILE.zip [--yes] [--replace] [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell serve --user ID [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell serve --http --issuer URL --audience TEXT --jwks URL|FILE [--host HOST] [--port PORT] ...
  memcell audit [PLUGIN.wasm...] [--policy FILE] [--json] [--html FILE] [--log LOG]
  memcell audit verify LOG | [PLUGIN.wasm...] --propose
  memcell config [--json]
  memcell <command> --help

Commands
  call    calls a tool for a user and prints its result as JSON
  index   prints a user's index as it enters a system prompt
  tools   prints the tools a model may call, with their JSON Schemas, or the page of one
  doctor  finds what is wrong with users' files, and mends it
  trash   lists, restores and purges what was deleted
  export  writes a user's memory into a zip file
  import  adds the memory in a zip file to a user's
  serve   serves memory to MCP clients: one user's over standard input and output, many users' over HTTP
  audit   tells what a plugin file may do and whether the policy grants it; verifies audit logs
  config  prints every setting with its value and where it comes from

Settings come from flags, MEMCELL_* environment variables and memcell.config.json (or --config FILE):
"memcell config --help" lists them.

Examples
  memcell call UpdateUserMemory --user alice --input '{"action":"upsert","name":"editor","type":"user",
    "description":"Uses Helix","body":"The user writes code in Helix."}'
  memcell call ReadUserMemory --user alice --input '{"name":"editor"}'
  memcell index --user alice

Exit codes
  0 the tool succeeded   1 the tool failed   2 the command line makes no sense
`;

export async function runCommand([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process[name === undefined ? "stderr" : "stdout"].write(help);
    return name === undefined ? 2 : 0;
  }
  const load = commands.get(name);
  if (!load) {
    process.stderr.write(`memcell: no command ${quoted(name)}, allowed: ${[...commands.keys()].join(", ")}\n`);
    return 2;
  }
  const command = await load();
  try {
    if (!args.includes("--help") && !args.includes("-h")) checkPresentFolder();
    return await command.run(args);
  } catch (error) {
    if (error instanceof HelpRequest) {
      process.stdout.write(command.help);
      return 0;
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
