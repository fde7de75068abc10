import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { PromptAnswer } from "./prompt-answer.ts";

/** What one plugin has in a prompt. */
export interface PromptIndex {
  readonly text: string;
  /** Of entries that it shows. */
  readonly origins: readonly EntryOrigin[];
}

export const promptIndex = ({ family }: CatalogTool, answer: PromptAnswer<"index"> | null): PromptIndex =>
  answer === null ? { text: leftOut(family), origins: [] } : { text: answer.data.text, origins: answer.origins };

const leftOut = (family: string): string =>
  `(${family} is not shown: some of its entries are trusted too little for a prompt, and it cannot leave them out)\n`;
