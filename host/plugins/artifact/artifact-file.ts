import { basename } from "node:path";

import { guestLimits } from "../../../shared/limits.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import type { Artifact } from "./artifact.ts";
import { readArtifact, unreadArtifact } from "./read-artifact.ts";

/** Reads a plugin file. A file that is missing, too large or not a regular file gives an unread artifact. */
export async function readArtifactFile(file: string): Promise<Artifact> {
  const name = basename(file);
  const read = await readBoundedFile(file, guestLimits.pluginBytesMax).catch(() => null);
  if (!read) return unreadArtifact(name, "it cannot be read");
  return read.kind === "unfit" ? unreadArtifact(name, read.reason) : readArtifact(read.bytes, name);
}
