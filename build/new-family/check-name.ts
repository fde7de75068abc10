/** Checks the name of a new family: its grammar, and whether it is taken. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { exportsOf } from "../../shared/manifest.ts";
import type { Family } from "../../shared/manifest.ts";
import { scopeName, trashFolder } from "../../shared/path.ts";
import { projectFolder } from "../bundle.ts";
import { readFamilies } from "../family.ts";
import { renamed, sampleName } from "./family-words.ts";

/**
 * Stricter than a scope's name: no dash at the end and no two in a row, because dashes become underscores in exports.
 */
const familyGrammar = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** Names that some systems do not allow for folders. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** Says why a family cannot have this name, or returns `null`. */
export async function whyNoName(name: string): Promise<string | null> {
  if (!familyGrammar.test(name) || !scopeName.test(name)) {
    return 'allowed are 1 to 32 characters of a-z, 0-9 and single "-" between them, a letter first, as in "reading-list"';
  }
  if (name === trashFolder) return "this is the folder of what was deleted";
  if (deviceName.test(name)) return "this is a device of some operating system";
  if (name in {}) return "every object has a property of this name";
  if (guestNames().includes(name)) return "a guest of the tests has this name";
  for (const folder of ["plugins", "foreign"]) {
    if (await hasFamily(join("test", folder), name)) return "a plugin of the tests has this name";
  }
  for (const { family } of await readFamilies(join(projectFolder, "plugin"))) {
    const taken = whyTaken(name, family);
    if (taken !== null) return taken;
  }
  return null;
}

async function hasFamily(folder: string, name: string): Promise<boolean> {
  return (await readFamilies(join(projectFolder, folder))).some(({ family }) => family.name === name);
}

function whyTaken(name: string, { name: present, tools }: Family): string | null {
  if (present === name) return "there is a family of this name";
  if (tools.some(({ scopes }) => scopes.includes(name))) return `family "${present}" keeps its files in this scope`;
  const prefix = renamed(`${sampleName}_`, name);
  const like = tools.find(
    (tool) => tool.name.toLowerCase().startsWith(prefix) || exportsOf(tool).some((each) => each.startsWith(prefix)),
  );
  return like ? `family "${present}" has a tool "${like.name}", which would look like one of the new family's` : null;
}

/** The guests of the tests: vectors name plugins and guests in one namespace. */
function guestNames(): string[] {
  const folder = join(projectFolder, "test", "guests");
  return existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.\w+$/, "")) : [];
}
