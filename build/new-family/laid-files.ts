/** The files of a new family: the sample's, renamed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectFolder } from "../bundle.ts";
import { movedImports, renamed, sampleName } from "./family-words.ts";

export interface LaidFile {
  /** Relative to the project's folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

const vectorsFolder = "test/conformance/vectors";

/** Returns the files in the order in which a person reads them. */
export function filesFor(name: string): LaidFile[] {
  const code = filesIn(`test/plugins/${sampleName}`).map((path) => laid(path, `plugin/${sampleName}`, name));
  const vectors = readdirSync(join(projectFolder, vectorsFolder))
    .filter((folder) => folder.startsWith(`${sampleName}_`))
    .toSorted()
    .flatMap((folder) => filesIn(`${vectorsFolder}/${folder}`));
  const others = [...vectors, `test/unit/${sampleName}.test.ts`];
  return [...code, ...others.map((path) => laid(path, path.slice(0, path.lastIndexOf("/")), name))];
}

function filesIn(folder: string): string[] {
  return readdirSync(join(projectFolder, folder))
    .toSorted()
    .map((file) => `${folder}/${file}`);
}

/** Returns the file at `path`, renamed and moved to `folder`. */
function laid(path: string, folder: string, name: string): LaidFile {
  const text = readFileSync(join(projectFolder, path), "utf8");
  const file = path.slice(path.lastIndexOf("/") + 1);
  return { path: renamed(`${folder}/${file}`, name), text: renamed(movedImports(text), name) };
}
