import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import type { PolicyFile } from "memcell";

import { proposePolicy } from "../../host/plugins/policy/propose-policy.ts";
import { guestLimits } from "../../shared/limits.ts";
import { manifestSchema, manifestSection } from "../../shared/manifest.ts";
import { customSections, readSections } from "../../shared/wasm-sections.ts";
import { safeParse } from "../../shared/zod.ts";

/**
 * The smallest policy that loads the plugin files. Leaves out unreadable files, so that the runtime refuses their form.
 */
export function policyFor(files: readonly string[], limits: PolicyFile["limits"] = {}): PolicyFile {
  const plugins = files.map((file) => proposalFor(file)?.plugins ?? {});
  return { version: 1, limits, plugins: Object.assign({}, ...plugins) as PolicyFile["plugins"] };
}

function proposalFor(file: string): PolicyFile | null {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > guestLimits.pluginBytesMax) return null;
  const wasm = readFileSync(file);
  try {
    const [section] = customSections(readSections(wasm), manifestSection);
    const parsed = safeParse(manifestSchema, JSON.parse(new TextDecoder().decode(section)));
    return parsed.success ? proposePolicy(parsed.data, createHash("sha256").update(wasm).digest("hex")) : null;
  } catch {
    return null;
  }
}
