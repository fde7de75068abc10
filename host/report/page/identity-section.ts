import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { bytesShown, code, facts } from "./phrases.ts";

/** Which file this page is about, and which policy has judged it. */
export function identityBody(report: AuditReport): Markup {
  const { artifact, policy } = report;
  const { manifest } = artifact;
  const unreadable = html`unknown: the file has no manifest that can be read`;
  return facts([
    [html`File`, code(artifact.file)],
    [html`SHA-256`, hash(artifact.sha256)],
    [html`Size`, bytesShown(artifact.bytes)],
    [html`Plugin`, manifest ? html`${code(manifest.name)} version ${manifest.version}` : unreadable],
    [html`Capability ABI`, manifest ? html`version ${manifest.abi}` : unreadable],
    [html`Policy`, code(policy.name)],
    [html`SHA-256 of the policy`, hash(policy.sha256)],
    [html`Pinned`, pinned(report)],
  ]);
}

function pinned({ artifact, policy: { pins } }: AuditReport): Markup {
  if (artifact.manifest === null) return html`unknown: the file does not say which plugin it would be`;
  if (pins === null) {
    return html`No. The policy accepts any file of this plugin’s name that asks for no more than it grants.`;
  }
  const accepted = pins.length === 1 ? html`the one file` : html`one of the ${pins.length} files`;
  if (artifact.sha256 !== "" && pins.includes(artifact.sha256)) {
    return html`Yes: this is ${accepted} of its name that the policy accepts.`;
  }
  return html`<strong class="bad">To another file.</strong> This is not ${accepted} of its name that the policy accepts:
    ${pins.slice(0, pinsShownMax).map((pin, at) => (at === 0 ? hash(pin) : html`, ${hash(pin)}`))}`;
}

/** A policy that is being rolled out pins an old and a new file; a longer list is read in the policy itself. */
const pinsShownMax = 8;

function hash(sha256: string): Markup {
  return sha256 === "" ? html`unknown: the file could not be read` : html`<code class="hash">${sha256}</code>`;
}
