/** Reads facts about an installed npm package from its `package.json` and from `package-lock.json`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { projectFolder } from "./bundle.ts";
import { licenceObjection } from "./licences.ts";

/** Where npm installs zod, which is a part of the host. */
export const zodPlace = "node_modules/zod";

export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** Its package URL: https://github.com/package-url. */
  readonly purl: string;
  /** SHA-512 of the registry's package file, in hex. */
  readonly sha512: string;
}

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/** Rejects when the package is not the pinned version, or may not be linked into a plugin. */
export async function readPackageFacts(place: string, project = projectFolder): Promise<PackageFacts> {
  const { packages } = await readJson<LockFile>(join(project, "package-lock.json"));
  const { name, version, license } = await readJson<PackageJson>(join(project, place, "package.json"));
  const refuse = (reason: string): Error => new Error(`Cannot build: package "${name}" ${version}: ${reason}`);
  const locked = packages[place];
  if (locked?.version !== version) {
    throw refuse(`package-lock.json names version ${locked?.version ?? "none"}; "npm ci" installs that`);
  }
  const objection = licenceObjection(license);
  if (objection !== null) throw refuse(objection);
  const [, base64] = /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(locked.integrity ?? "") ?? [];
  if (base64 === undefined) throw refuse("package-lock.json gives no SHA-512 of it");
  const sha512 = Buffer.from(base64, "base64").toString("hex");
  return { name, version, licence: license as string, purl: purlOf(name, version), sha512 };
}

/** The project itself. */
export async function readProjectFacts(): Promise<Omit<PackageFacts, "sha512">> {
  const { name, version, license } = await readJson<PackageJson>(join(projectFolder, "package.json"));
  return { name, version, licence: license as string, purl: purlOf(name, version) };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

async function readJson<Content>(file: string): Promise<Content> {
  return JSON.parse(await readFile(file, "utf8")) as Content;
}
