/** The function with which a model reads a web page. It belongs to the executor, and a page is a stranger's text. */
import type { AnthropicTool } from "memcell";

export const webPageTool = "read_web_page";

export const definitionOfWebPage: AnthropicTool = {
  name: webPageTool,
  description: "Gives the text of a web page.",
  input_schema: {
    type: "object",
    properties: { url: { type: "string", description: "The page's address" } },
    required: ["url"],
    additionalProperties: false,
  },
};

/** The program's own way to the web. It must keep out of the program's network. */
export type ReadWebPage = (url: URL) => Promise<string>;

export function urlIn(input: unknown): URL | null {
  const text = typeof input === "object" && input !== null && "url" in input ? String(input.url) : "";
  return URL.canParse(text) ? new URL(text) : null;
}
