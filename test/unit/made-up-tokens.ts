/** Tokens of well-known services that were never valid. */
import { createHash } from "node:crypto";

/** Made up, and put together here: whoever scans this repository for credentials finds none. */
export const madeUp = (length: number): string =>
  createHash("sha512").update("made up").digest("base64").replaceAll(/\W/g, "").slice(0, length);

export const hex = (length: number): string => createHash("sha512").update("made up").digest("hex").slice(0, length);
const letters = (length: number): string => madeUp(86).replaceAll(/\d/g, "x").slice(0, length);

/** Each with the prefix apart from the rest: put together, they look real. */
export const tokens: readonly (readonly [what: string, prefix: string, rest: string])[] = [
  ["GitLab, personal", "glpat-", madeUp(20)],
  ["GitLab, personal, in the newer form", "glpat-", `${madeUp(27)}.01.${hex(9)}`],
  ["GitLab, deployment", "gldt-", madeUp(20)],
  ["GitLab, runner", "glrt-", `t1_${madeUp(20)}`],
  ["GitLab, job", "glcbt-", `64_${madeUp(20)}`],
  ["GitLab, trigger", "glptt-", hex(40)],
  ["GitLab, feed", "glft-", madeUp(20)],
  ["GitLab, service account", "glsoat-", madeUp(20)],
  ["GitLab, application", "gloas-", hex(64)],
  ["GitLab, agent", "glagent-", madeUp(50)],
  ["Google, API", "AIza", `Sy${madeUp(33)}`],
  ["Google, client", "GOCSPX-", madeUp(28)],
  ["Google, access", "ya29.", `a0Af${madeUp(60)}`],
  ["Google, refresh", "1//0", madeUp(60)],
  ["Stripe, live", "sk_live_", madeUp(24)],
  ["Stripe, restricted", "rk_live_", madeUp(24)],
  ["Stripe, test", "sk_test_", madeUp(24)],
  ["Stripe, webhook", "whsec_", madeUp(32)],
  ["Hugging Face", "hf_", letters(34)],
  ["Hugging Face, with digits", "hf_", madeUp(34)],
  ["Hugging Face, organisation", "api_org_", letters(34)],
  ["Azure, client", `${madeUp(3)}8Q~`, madeUp(34)],
  ["Azure, AI services", madeUp(52), `JQQJ99${madeUp(26)}`],
  ["GitHub, fine-grained", "github_pat_", madeUp(82)],
  ["GitHub, app", "ghs_", madeUp(36)],
  ["Slack, app", "xapp-1-", `A0123456789-1234567890123-${hex(64)}`],
  ["Slack, browser", "xoxc-", `123456789012-1234567890123-${hex(64)}`],
  ["SendGrid", "SG.", `${madeUp(22)}.${madeUp(43)}`],
  ["Shopify", "shpat_", hex(32)],
  ["Linear", "lin_api_", madeUp(40)],
  ["OpenAI, project", "sk-proj-", `${madeUp(74)}T3BlbkFJ${madeUp(74)}`],
  ["OpenAI, in another form", "sk-", madeUp(48)],
  ["Anthropic, administrator", "sk-ant-admin01-", `${madeUp(80)}AA`],
  ["Groq", "gsk_", madeUp(52)],
  ["Figma", "figd_", madeUp(40)],
  ["Vercel", "vcp_", madeUp(24)],
  ["Notion", "ntn_", `12345678901${madeUp(35)}`],
  ["Grafana", "glsa_", `${madeUp(32)}_${hex(8)}`],
  ["Databricks", "dapi", hex(32)],
  ["Docker", "dckr_pat_", madeUp(27)],
  ["HashiCorp Vault", "hvs.", `${madeUp(86)}${madeUp(10)}`],
  [
    "1Password",
    "ops_",
    Buffer.from(JSON.stringify({ email: "anna", secretKey: madeUp(70), more: madeUp(33) })).toString("base64"),
  ],
  ["age", "AGE-SECRET-KEY-1", hex(58).toUpperCase()],
];
