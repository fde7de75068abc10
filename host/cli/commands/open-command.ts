import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";

import { readSettings } from "../../config/read-settings.ts";
import { runtimePaths } from "../../config/settings.ts";
import { addressOf, html } from "../../markup/markup.ts";
import { optional } from "../../owner/field.ts";
import type { HttpServeOptions } from "../../serve/serve-options.ts";
import { stopSignal } from "../../serve/stop-signal.ts";
import { defineCommand, personsSettings, userField } from "../command.ts";
import type { CommandLine } from "../command.ts";
import { openForUser } from "../open-runtime.ts";

const idleMinutes = 15;

export const command = defineCommand({
  name: "open",
  description: `Opens a page in your browser with everything that is remembered: to read, correct, approve, take back, share, download and erase
it. Only you can open it: the link works once and for a minute, and the page is at an address of this machine that nobody can guess. It
ends when you close it, with Ctrl-C, and after ${idleMinutes} minutes without use.`,
  fields: { user: optional(userField("the user (default: the only one, or serve.user of the settings)")) },
  settings: runtimePaths,
  settingsShown: personsSettings,
  examples: ["memcell open"],
  exitCodes: ["opened and closed", "failed"],

  async run({ input: { user }, settings, terminal }) {
    const line = { settings, terminal };
    const opening = { besides: "all", isOwners: true, isReading: true } as const;
    await using opened = await openForUser(line, user, opening);
    const { runtime, userId } = opened;
    const { OneTimeLink } = await import("../../serve/page/one-time-link.ts");
    const { startHttpServer } = await import("../../serve/http/start-http-server.ts");
    const stopped = stopSignal();
    const endings = new EventEmitter<{ over: [how: keyof typeof endingWords] }>();
    const onOver = (how: keyof typeof endingWords): void => void endings.emit("over", how);
    const over = once(endings, "over") as Promise<[how: keyof typeof endingWords]>;
    stopped.addEventListener("abort", () => onOver("closed"), { once: true });
    const mayChange = runtime.asReadOnly() !== runtime;
    using door = new OneTimeLink({ userId, mayChange, linkMs: 60_000, idleMs: idleMinutes * 60_000, onOver });
    const page = { door, toChange: await changing(line, userId) };
    const options = { ...ownMachine, access: { kind: "one-user", userId } } as const;
    const server = await startHttpServer(runtime, options, undefined, page);
    const file = await linkFile(new URL(door.path, server.origin));
    try {
      showInBrowser(file.name);
      terminal.stdout.write(
        `Your browser shows the page. If it does not, open this file within a minute:\n${file.name}\n`,
      );
      terminal.stdout.write("To close the page, press Ctrl-C.\n");
      const [how] = stopped.aborted ? (["closed"] as const) : await over;
      terminal.stdout.write(`${endingWords[how]}\n`);
      return 0;
    } finally {
      await server.close();
      await file.remove();
    }
  },
});

const endingWords = {
  closed: "Closed",
  "not opened": "Closed, because nobody has opened the page within a minute",
  "not used": `Closed, because nobody has used the page for ${idleMinutes} minutes`,
} as const;

/** No MCP, no token, no other machine. */
const ownMachine: Omit<HttpServeOptions, "access"> = {
  host: "127.0.0.1",
  port: 0,
  path: null,
  page: null,
  allowedHosts: [],
  allowedOrigins: [],
  publicUrl: null,
  storage: null,
  originClass: "unstated",
  bodyBytesMax: 8 * 1_024 * 1_024,
  requestsPerMinute: 600,
  streamsPerUserMax: 1,
  closeGraceMs: 10_000,
};

type Line = Pick<CommandLine, "settings" | "terminal">;

/** Only one process can write an audit log at a time, so it is open only while something changes. */
async function changing(line: Line, userId: string) {
  const { values } = await readSettings(line.settings);
  if (values.auditLog === null) return null;
  return () => openForUser(line, userId, { besides: "all", isOwners: true });
}

/**
 * A file that leads to the link, for the browser. Every user of the machine sees the arguments with which a browser is started, and
 * nobody else can read this file.
 */
async function linkFile(link: URL): Promise<{ readonly name: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(`${tmpdir()}/memcell-`);
  const name = `${folder}/open.html`;
  const page = html`<!doctype html>
    <meta charset="utf-8" />
    <meta name="referrer" content="no-referrer" />
    <meta http-equiv="refresh" content="0;url=${addressOf(link)}" />
    <title>memcell</title>
    <p><a href="${addressOf(link)}">Open the page</a></p> `;
  await writeFile(name, page.toString(), { mode: 0o600, flag: "wx" });
  return { name, remove: () => rm(folder, { recursive: true, force: true }) };
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

/** Without a browser, the person opens the file. */
function showInBrowser(file: string): void {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, file], { stdio: "ignore", detached: true });
  void once(child, "spawn").then(
    () => child.unref(),
    () => {},
  );
}
