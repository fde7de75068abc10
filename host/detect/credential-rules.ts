/**
 * Credentials in a text, by the rules of secretlint and a few of our own. The only file that imports it: rules without its engine
 * (`RATIONALE.md`, "Why the rules of secretlint without its engine?").
 */
import { creator as preset } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from "@secretlint/types";

import { holdsOther } from "./own-rules.ts";

/** A rule that reads comments which switch other rules off. Whoever writes a credential could write such a comment, too. */
const switchesOff = "@secretlint/secretlint-rule-filter-comments";
const rules = preset.rules.filter(({ meta }) => meta.id !== switchesOff);

/** By rule. `enableIDScanRule`: an access key's id is found without its secret, which may be there under any name. */
const options: Readonly<Record<string, object>> = { "@secretlint/secretlint-rule-aws": { enableIDScanRule: true } };
/** What `enableIDScanRule` finds as well: the number of an account, which is no secret, and looks like many others. */
const harmless = "AWSAccountID";

export async function holdsCredential(text: string): Promise<boolean> {
  const plain = withoutEscapes(text);
  for (const each of plain === text ? [text] : [text, plain]) {
    if (holdsOther(each)) return true;
    for (const rule of rules) if (await findsSomething(rule, each)) return true;
  }
  return false;
}

/**
 * The text that JSON escapes, also twice: an event of a run is JSON in a line of JSON. In `\\nghp_…` a letter would stand
 * before the token, which no rule takes for one then.
 */
const withoutEscapes = (text: string): string =>
  text.replaceAll(/(?<!\\)\\+(?:u([0-9a-fA-F]{4})|[nrtbf"'/])/g, (escape, hex?: string) =>
    hex === undefined ? (/["'/]$/.exec(escape)?.[0] ?? "\n") : String.fromCharCode(Number.parseInt(hex, 16)),
  );

async function findsSomething(rule: SecretLintRuleCreator<unknown>, text: string): Promise<boolean> {
  let hasFound = false;
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    // Nobody reads what a rule says: it would quote the credential.
    createTranslator: () => (id) => ({ message: "", messageId: String(id), data: undefined }),
    report: ({ message }) => {
      hasFound ||= message.messageId !== harmless;
    },
    ignore: () => {},
  };
  await rule.create(context, options[rule.meta.id] ?? {}).file?.(sourceOf(text));
  return hasFound;
}

/**
 * A text without a path, which a rule takes for any kind of text file, and reads nothing from a disk. Only the comments
 * above need more of a source: the places of lines.
 */
const sourceOf = (content: string): SecretLintSourceCode =>
  ({ content, contentType: "text", ext: "", hasBOM: false }) as SecretLintSourceCode;
