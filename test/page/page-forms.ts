/** Reads a page as a browser does, as far as tests need it: its words, its forms, and where its links lead. */

export type Fields = Readonly<Record<string, string>>;

export interface PageForm {
  readonly method: string;
  readonly action: string;
  /** What the form sends if nothing is typed, with CRLF for line ends. */
  readonly fields: ReadonlyMap<string, string>;
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

const decoded = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? "");

const attributeOf = (tag: string, name: string): string | null => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag);
  return found === null ? null : decoded(found[1] ?? "");
};

/** The words of a page, in order. */
export function wordsIn(page: string): string {
  const shown = page
    .slice(page.indexOf("<body>"))
    .replaceAll(/<wbr>|<[^>]*>/g, (tag) => (tag === "<wbr>" || /^<\/?bdi/.test(tag) ? "" : " "));
  return decoded(shown).replaceAll(/\s+/g, " ").trim();
}

export function linksIn(page: string): string[] {
  return Array.from(page.matchAll(/<a\s[^>]*>/g), ([tag]) => attributeOf(tag, "href") ?? "");
}

export function formsIn(page: string): PageForm[] {
  return Array.from(page.matchAll(/<form\s[^>]*>[^]*?<\/form>/g), ([form]) => {
    const [tag = ""] = /^<form[^>]*>/.exec(form) ?? [];
    return {
      method: attributeOf(tag, "method") ?? "get",
      action: attributeOf(tag, "action") ?? "",
      fields: new Map([...inputsIn(form), ...textsIn(form), ...choicesIn(form)]),
    };
  });
}

function inputsIn(form: string): [string, string][] {
  return Array.from(form.matchAll(/<input\s[^>]*>/g), ([tag]) => [
    attributeOf(tag, "name") ?? "",
    attributeOf(tag, "value") ?? "",
  ]);
}

/** A parser takes the first line end away, and takes CR, and NUL, for something else. A form sends CRLF. */
export function textsIn(page: string): [string, string][] {
  return Array.from(page.matchAll(/(<textarea\s[^>]*>)([^]*?)<\/textarea>/g), ([, tag = "", content = ""]) => {
    const lines = content.replaceAll(/\r\n?/g, "\n").replace(/^\n/, "").replaceAll("\0", "\ufffd");
    return [attributeOf(tag, "name") ?? "", decoded(lines).replaceAll("\n", "\r\n")];
  });
}

function choicesIn(form: string): [string, string][] {
  return Array.from(form.matchAll(/(<select\s[^>]*>)([^]*?)<\/select>/g), ([, tag = "", choices = ""]) => {
    const options = choices.match(/<option\s[^>]*>/g) ?? [];
    const chosen = options.find((option) => /\sselected\b/.test(option)) ?? options[0] ?? "";
    return [attributeOf(tag, "name") ?? "", attributeOf(chosen, "value") ?? ""];
  });
}
