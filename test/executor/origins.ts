/** What an executor tells memcell about the origin of each text: whose words it has, and what the model has seen. */
import type { CallContext, OriginClass } from "memcell";

import type { Message, Movement, ToolUse } from "./messages.ts";
import { urlIn, webPageTool } from "./own-tools.ts";

/** The user's own message. It begins a turn, which ends with the model's last words. */
export const ofUser = (ctx: CallContext, { name, run }: Movement): CallContext => ({
  ...ctx,
  origin: { class: "direct_user", run, turn: name },
});

/** What the model writes when it has got these messages: its words, and what it passes to tools. */
export const ofModel = (ctx: CallContext, messages: readonly Message[]): CallContext => ({
  ...ctx,
  origin: { ...ctx.origin, class: "model_inference" },
  exposedTo: exposureTo(messages),
});

/** Pages of earlier turns count for as long as the model gets them again. */
function exposureTo(messages: readonly Message[]): OriginClass[] {
  const uses = messages.flatMap((message) =>
    typeof message === "object" && "toolUses" in message ? message.toolUses : [],
  );
  return uses.some(({ name }) => name === webPageTool) ? ["direct_user", "tool_external"] : ["direct_user"];
}

/** What a tool has answered. */
export function ofTool(ctx: CallContext, { name, input }: ToolUse): CallContext {
  if (name !== webPageTool) return { ...ctx, origin: { ...ctx.origin, class: "tool_internal" } };
  // An address in this form is ASCII.
  const source = urlIn(input)?.href.slice(0, sourceCharsMax);
  return { ...ctx, origin: { ...ctx.origin, class: "tool_external", source } };
}

/** The longest that memcell takes. */
const sourceCharsMax = 512;
