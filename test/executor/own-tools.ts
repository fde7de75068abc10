/** The executor's own tools: a tool's page on request, and a web page, which is a stranger's text. */
import type { AnthropicTool } from "memcell";

export const pagesTool = "describe_tool";
export const webPageTool = "read_web_page";

const toolOf = (name: string, description: string, field: string, what: string): AnthropicTool => ({
  name,
  description,
  input_schema: {
    type: "object",
    properties: { [field]: { type: "string", description: what } },
    required: [field],
    additionalProperties: false,
  },
});

const pagesFor = "Gives a tool's page: what it is for, each parameter, examples. Ask for it when a call was refused.";
export const definitionOfPages = toolOf(pagesTool, pagesFor, "name", "The tool's name");
export const definitionOfWebPage = toolOf(webPageTool, "Gives the text of a web page.", "url", "The page's address");

/** The program's own way to the web. It must keep out of the program's network. */
export type ReadWebPage = (url: URL) => Promise<string>;

export function urlIn(input: unknown): URL | null {
  const text = typeof input === "object" && input !== null && "url" in input ? String(input.url) : "";
  return URL.canParse(text) ? new URL(text) : null;
}
