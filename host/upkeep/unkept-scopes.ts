import { isTrashPath } from "../../shared/path.ts";
import type { HeldReader } from "../store/store.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Finding } from "./finding.ts";
import type { Operation } from "./operation.ts";

/**
 * A finding for each scope of a part that has files and that no loaded plugin keeps: nothing judges what they say.
 * `elsewhere` are scopes that have a part of their own.
 */
export async function unkeptScopes(
  { tools }: Operation,
  reader: HeldReader,
  elsewhere: readonly string[],
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const scope of (await orNothing(() => reader.scopes())) ?? []) {
    if (tools.hasScope(scope) || elsewhere.includes(scope)) continue;
    const survey = await orNothing(() => reader.survey(scope));
    if (!survey?.files.some(({ path }) => !isTrashPath(path))) continue;
    const hint = tools.notLoaded.hintForScope(scope);
    const message = `no loaded plugin has this scope, so nothing has judged what its files say${hint ? `. ${hint}` : ""}`;
    found.push({ problem: "not-inspected", path: scope, message, remedy: null });
  }
  return found;
}

/** What cannot be read is a finding of the store. */
async function orNothing<Read>(read: () => Promise<Read>): Promise<Read | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ToolError) return null;
    throw error;
  }
}
