import type { ToolSuccess } from "../values/tool-result.ts";

/** The fields of an answer in which a tool names entries. Texts in others are what users have written. */
const nameFields: ReadonlySet<string> = new Set(["name", "path", "file"]);

/** The texts of an answer, in which names of entries can be. The host compares them and parses none. */
export class AnswerWords {
  readonly #names = new Set<string>();
  readonly #texts: string[] = [];
  readonly #hasFields: boolean;

  constructor({ data }: Pick<ToolSuccess, "data">) {
    this.#hasFields = typeof data === "object" && data !== null && Object.keys(data).length > 0;
    this.#add("", data);
  }

  /** Whether the data has fields, and no text in any of them. */
  get isEmptyList(): boolean {
    return this.#hasFields && this.#texts.length === 0;
  }

  /** Whether a field for names has this name, or a longer path that ends in it. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether it is anywhere in a text. */
  hasAnywhere(name: string): boolean {
    return this.#texts.some((text) => text.includes(name));
  }

  #add(field: string, value: unknown): void {
    if (typeof value === "string") {
      this.#texts.push(value);
      if (nameFields.has(field)) this.#addName(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value)) this.#add(key, each);
    }
  }

  #addName(text: string): void {
    this.#names.add(text);
    for (let at = text.indexOf("/"); at !== -1; at = text.indexOf("/", at + 1)) this.#names.add(text.slice(at + 1));
  }
}
