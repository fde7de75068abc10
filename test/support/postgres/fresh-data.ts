/**
 * Data folders of new servers. `initdb` takes over a second, so it runs once in each process, and every server gets a
 * copy of what it made.
 */
import { join } from "node:path";

import { atProcessEnd } from "../at-process-end.ts";
import { type PostgresVersion, postgresPrograms } from "./programs.ts";
import { openToServer, runAsServerUser, serverFolder } from "./server-user.ts";

interface Template {
  /** The folder of the programs. */
  readonly programs: string;
  readonly data: string;
}

const templates = new Map<PostgresVersion, Promise<Template>>();

/** Creates the data folder. Returns the folder of the programs that serve it. */
export async function freshData(version: PostgresVersion, data: string, cwd: string): Promise<string> {
  const made = templates.get(version) ?? makeTemplate(version);
  templates.set(version, made);
  const template = await made;
  // As the server's user, which has to own the copy.
  await runAsServerUser("cp", ["-Rp", template.data, data], cwd);
  return template.programs;
}

async function makeTemplate(version: PostgresVersion): Promise<Template> {
  const folder = serverFolder();
  atProcessEnd('rm -rf "$1"', folder.path);
  openToServer(folder.path);
  const programs = postgresPrograms(version, join(folder.path, "native"));
  const data = join(folder.path, "data");
  const text = ["-E", "UTF8", "--locale=C"];
  // A role that connects to the socket is believed. Only who can enter the socket's folder can do so.
  const access = ["-U", "postgres", "--auth-local=trust", "--auth-host=reject"];
  await runAsServerUser(join(programs, "initdb"), ["-D", data, "--no-sync", ...text, ...access], folder.path);
  return { programs, data };
}
