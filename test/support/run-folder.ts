/** Runs once before the slow tier. Says what has been shown before, creates a folder that its suites share, and removes it at the end. */
import type { TestProject } from "vitest/node";

import { rebuilds, whyShown } from "../shown-inputs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    runFolder: string;
  }
}

export default function makeRunFolder(project: TestProject): () => void {
  const shown = whyShown("rebuilds");
  if (shown !== null) console.warn(`skipped ${rebuilds}: ${shown}`);
  const folder = temporaryFolder();
  project.provide("runFolder", folder.path);
  return () => folder[Symbol.dispose]();
}
