/** Asks one plugin for its part of a prompt: without entries that are trusted too little, and with origins of the others. */
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import { originClasses } from "../../shared/origin.ts";
import type { Role } from "../../shared/roles.ts";
import type { CallOptions } from "../call/asked-call.ts";
import { isDerivedFile } from "../plugins/family-files.ts";
import { mayChange, reachesStores } from "../plugins/loaded-tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { SizedChange } from "../values/change-set.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput } from "../values/role-answer.ts";
import type { ToolResult } from "../values/tool-result.ts";

export interface PromptIndex {
  readonly text: string;
  /** Of entries that it shows. */
  readonly origins: readonly EntryOrigin[];
}

export type CallRole = <Of extends Role>(
  found: CatalogTool,
  input: RoleInput<Of>,
  options: CallOptions,
) => Promise<ToolResult>;

/** `menders`: all tools that the policy leaves, also where nothing may be changed: mending a view changes nothing. */
export async function promptIndex(
  found: CatalogTool,
  input: RoleInput<"index">,
  { call, menders }: { readonly call: CallRole; readonly menders: LoadedTools },
): Promise<PromptIndex> {
  const least = found.trust.prompt;
  if (least === originClasses.at(-1)) return indexIn(found, await call<"index">(found, input, {}));
  let hidden = 0;
  const hides = (count: number): void => void (hidden = count);
  const ask = async (made: readonly SizedChange[]): Promise<PromptIndex> =>
    indexIn(found, await call<"index">(found, input, { view: { least, made, hides } }));
  const whole = await ask([]);
  if (hidden === 0 || hasNothingDerived(found)) return whole;
  const mender = menders.withRole("inspect").find(({ family }) => family === found.family);
  if (mender === undefined || !mayChange(mender.tool.rights)) return { text: leftOut(found), origins: [] };
  let made: readonly SizedChange[] = [];
  const result = await call<"inspect">(
    mender,
    { mend: true },
    {
      view: { least, made: [] },
      accepts: async (_answer, changes) => {
        made = changes.filter((change) => isDerivedFile(found.files, change));
        return [];
      },
    },
  );
  roleAnswer("inspect", mender.tool.name, result);
  return await ask(made);
}

function indexIn(found: CatalogTool, result: ToolResult): PromptIndex {
  const { text } = roleAnswer("index", found.tool.name, result);
  return { text, origins: (result.ok && result.origins) || [] };
}

/** Of shared stores, the call hides what is derived as well. */
const hasNothingDerived = (found: CatalogTool): boolean =>
  reachesStores(found) || (found.files.isDeclared && found.files.derived.length === 0);

const leftOut = ({ family }: CatalogTool): string =>
  `(${family} is not shown: some of its entries are trusted too little for a prompt, and it cannot leave them out)\n`;
