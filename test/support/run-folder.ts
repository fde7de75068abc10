/** Runs once before the slow tier. Creates a folder that its suites share, and removes it at the end. */
import type { TestProject } from "vitest/node";

import { temporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    runFolder: string;
  }
}

export default function makeRunFolder(project: TestProject): () => void {
  const folder = temporaryFolder();
  project.provide("runFolder", folder.path);
  return () => folder[Symbol.dispose]();
}
