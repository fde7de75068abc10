/** The user's index as a prompt, for clients that let their users choose what to add to a conversation. */
import { quoted } from "../../../shared/text.ts";
import { invalidParams, orProtocolFailure } from "./protocol-failure.ts";
import type { Server } from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

export const promptName = "memory";

const prompt = {
  name: promptName,
  title: "What is remembered about the user",
  description: "Puts the index of the user's memory into the conversation: what is remembered, in short.",
};

/** Registers the prompt on `server`. */
export function offerPrompts(server: Server, { runtime, contextOf }: ServedUser): void {
  server.setRequestHandler("prompts/list", () => ({ prompts: [prompt] }));
  server.setRequestHandler("prompts/get", ({ params: { name } }, request) =>
    orProtocolFailure(async () => {
      if (name !== promptName)
        throw invalidParams(`Cannot get prompt ${quoted(name)}: no such prompt, allowed: "${promptName}"`);
      const text = (await runtime.memoryIndex(contextOf(request))) || "Nothing is remembered about the user yet.";
      return {
        description: prompt.title,
        messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
      };
    }),
  );
}
