/**
 * Credentials in a text, by the rules of secretlint and a few of our own. The only file that imports it: rules without its engine
 * (`RATIONALE.md`, "Why the rules of secretlint without its engine?").
 */
import { creator as preset } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from "@secretlint/types";

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

/**
 * Whether a text holds a credential that the library's rules do not find (`RATIONALE.md`, "Why rules of our own?").
 *
 * The text is hostile, so each pattern takes a time that grows with the text and not faster: a repetition without a bound
 * begins only where no character of its kind stands before it.
 */
const holdsOther = (text: string): boolean =>
  tokens.some((pattern) => pattern.test(text)) || holdsPrivateKey(text) || holdsPassword(text);

/** `prefix`: a source of a pattern. */
const token = (prefix: string, rest: string): RegExp => new RegExp(`(?<![A-Za-z0-9_-])(?:${prefix})${rest}`);

const tokens: readonly RegExp[] = [
  // GitLab: of persons, deployments, runners, jobs, triggers, feeds, agents and applications.
  token("gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct|wt)-", "[A-Za-z0-9_-]{20}"),
  token("GR1348941", "[A-Za-z0-9_-]{20}"),
  // Google: keys of APIs, secrets of clients, access tokens, refresh tokens.
  token("AIza", "[A-Za-z0-9_-]{35}"),
  token("GOCSPX-", "[A-Za-z0-9_-]{24}"),
  token("ya29\\.", "[A-Za-z0-9_-]{20}"),
  /(?<![\w/])1\/\/0[A-Za-z0-9_-]{38}/,
  // Stripe: also keys of the test mode, which open an account's data. A publishable key (pk_) is none.
  token("[rs]k_(?:live|test|prod)_", "[A-Za-z0-9]{16}"),
  token("whsec_", "[A-Za-z0-9+/]{24}"),
  // Hugging Face. The library wants letters only.
  token("hf_", "[A-Za-z0-9]{30}"),
  token("api_org_", "[A-Za-z0-9]{30}"),
  // Azure: connection strings, signed addresses, secrets of clients, keys with the mark of Azure.
  /(?:AccountKey|SharedAccessKey|AccessKey)=[A-Za-z0-9+/]{40}/i,
  /[?&; ]sig=(?:[A-Za-z0-9+/]|%2[BF]){42,44}(?:=|%3D)/i,
  /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])/,
  /(?<=[A-Za-z0-9]{52})JQQJ99[A-Za-z0-9]{20}/,
  // Of the services that the library knows, the forms that it does not.
  token("gh[oprsu]_|github_pat_", "[A-Za-z0-9_]{36}"),
  token("xox[a-z]-", "[A-Za-z0-9]{8,40}-[A-Za-z0-9-]{12}"),
  token("sk-(?:proj|svcacct|admin|or-v\\d|ant-[a-z]{2,8}\\d\\d)-", "[A-Za-z0-9_-]{40}"),
  token("sk-", "[A-Za-z0-9]{32}"),
  token("SG\\.", "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32}"),
  token("ops_ey", "[A-Za-z0-9+/]{80}"),
  token("AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
];

const keyHead = /-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}|^Private-Lines: ?\d{1,4}$/m;

/** A private key in PEM, or in PuTTY's form: a head with the beginning of a key behind it, however its lines are broken. */
function holdsPrivateKey(text: string): boolean {
  const parts = text.split(keyHead);
  for (const behind of parts.slice(1)) {
    const body =
      (behind.slice(0, keyCharsMax).split("-----", 1)[0] ?? "").match(/[A-Za-z0-9+/=]{16,}/g)?.join("") ?? "";
    // Fewer different characters are a placeholder.
    if (body.length >= 48 && new Set(body).size >= 12) return true;
  }
  return false;
}

/** So far from its head, a key has begun, also one that is encrypted or has comments in front. */
const keyCharsMax = 1_000;

/** The library knows addresses of few kinds, and in them only passwords of letters and digits. */
const address = /:\/\/([^\s:/@]{0,100}):([^\s/@]{4,200})@(?!sha\d)[^\s/@]/g;
const connection =
  /(?:Server|Data Source|Host)=[^;\n]{1,200};(?:[^;=\n]{1,40}=[^;\n]{0,200};){0,10}?(?:Password|Pwd)=([^;\s"']{4,200})/gi;

function holdsPassword(text: string): boolean {
  for (const [, user, password = ""] of text.matchAll(address)) {
    if (password !== user && !isPlaceholder(password)) return true;
  }
  for (const [, password = ""] of text.matchAll(connection)) if (!isPlaceholder(password)) return true;
  return false;
}

/** A variable, a word for a password, or one character again and again. */
const isPlaceholder = (password: string): boolean =>
  /^\$|\$[{(]|\{\{|^\{.*\}$|^<.*>$|^\[.*\]$|^%.*%$|^\W+$|^(.)\1+$|^(?:my|your|the|db)?[-_ ]?(?:pass|passwd|password|pwd|secret|token|key|redacted|changeme|example)$/i.test(
    password,
  );
