/** Asks one plugin for what goes into a prompt: without entries that are trusted too little, and with origins of the others. */
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import { originClasses } from "../../shared/origin.ts";
import type { Role } from "../../shared/roles.ts";
import type { CallOptions } from "../call/asked-call.ts";
import { isDerivedFile, mayChange } from "../plugins/tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/tools.ts";
import type { SizedChange } from "../values/change-set.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { ToolResult } from "../values/tool-result.ts";

export interface PromptAnswer<Of extends Role> {
  readonly data: RoleOutput<Of>;
  /** Of entries that it shows. */
  readonly origins: readonly EntryOrigin[];
}

export type CallTool = (found: CatalogTool, input: unknown, options: CallOptions) => Promise<ToolResult>;

interface PromptParts {
  readonly call: CallTool;
  /** All tools that the policy leaves, also where nothing may be changed: mending a view changes nothing. */
  readonly menders: LoadedTools;
}

/** `null`: the plugin cannot leave out what is trusted too little. */
export async function promptAnswer<Of extends "index" | "entries">(
  role: Of,
  found: CatalogTool,
  input: RoleInput<Of>,
  { call, menders }: PromptParts,
): Promise<PromptAnswer<Of> | null> {
  const least = found.trust.prompt;
  if (least === originClasses.at(-1)) return answerIn(role, found, await call(found, input, {}));
  let canShowHidden = false;
  const tells = (canShow: boolean): void => void (canShowHidden = canShow);
  const ask = async (made: readonly SizedChange[]): Promise<PromptAnswer<Of>> =>
    answerIn(role, found, await call(found, input, { view: { least, made, tells } }));
  const whole = await ask([]);
  if (!canShowHidden) return whole;
  const mender = menders.withRole("inspect").find(({ family }) => family === found.family);
  if (mender === undefined || !mayChange(mender.tool.rights)) return null;
  let made: readonly SizedChange[] = [];
  const accepts: CallOptions["accepts"] = async (_answer, changes) => {
    made = changes.filter((change) => isDerivedFile(found.files, change));
    return [];
  };
  const mend: RoleInput<"inspect"> = { mend: true };
  roleAnswer("inspect", mender.tool.name, await call(mender, mend, { view: { least, made: [] }, accepts }));
  return await ask(made);
}

/** An answer with a role, and the origins that the host has put beside it. */
export function answerIn<Of extends Role>(role: Of, found: CatalogTool, result: ToolResult): PromptAnswer<Of> {
  const data = roleAnswer(role, found.tool.name, result);
  return { data, origins: (result.ok && result.origins) || [] };
}
