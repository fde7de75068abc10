import { callLimits, storeLimits } from "../../../shared/limits.ts";
import { policyLimitsMax } from "../../plugins/policy/policy-limits.ts";
import type { PolicyLimits } from "../../plugins/policy/policy.ts";
import { manifestLimits } from "../make-report.ts";
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, wasmPagesShown } from "./phrases.ts";
import { table, text } from "./table.ts";

/** What bounds a call of this plugin, and whose word it is. */
export function limitsBody({ limits, artifact }: AuditReport, id: string): Value {
  const own: Partial<PolicyLimits> = artifact.manifest ? manifestLimits(artifact.manifest) : {};
  return [
    table({
      id: `${id}-call`,
      caption: html`What bounds a call of this plugin: the least of what host, policy and manifest say`,
      columns: [text`Limit`, text`Value`, text`Set by`],
      rows: callBounds.map(([key, name, shown]) => [
        html`${name} <span class="note below"><code>${key}</code></span>`,
        shown(limits[key]),
        setBy(limits[key], policyLimitsMax[key], own[key]),
      ]),
    }),
    table({
      id: `${id}-host`,
      caption: html`The same for every plugin, set by the host`,
      columns: [text`Limit`, text`Value`],
      rows: fixedBounds,
    }),
  ];
}

const callBounds: readonly (readonly [key: keyof PolicyLimits, name: Markup, shown: (value: number) => Markup])[] = [
  ["deadlineMs", html`Time in its thread`, (ms) => html`${ms} ms`],
  ["fuelPolls", html`Computing budget`, (polls) => html`${polls} polls of some 5,000 loop turns`],
  ["memoryPages", html`Wasm memory`, wasmPagesShown],
  ["inputBytes", html`Input`, bytesShown],
  ["hostCalls", html`Uses of capabilities`, (calls) => html`${calls} in a call`],
  ["stagedBytes", html`What a call writes`, bytesShown],
];

/** The least wins; when several say the same, all of them did. Of some limits a manifest has no say. */
function setBy(value: number, ofHost: number, ofManifest: number | undefined): Markup {
  if (ofManifest === value) return ofHost === value ? html`host and manifest` : html`manifest`;
  return ofHost === value ? html`host` : html`policy`;
}

const fixedBounds: readonly (readonly Value[])[] = [
  [html`Answer`, bytesShown(callLimits.outputBytesMax)],
  [html`One capability request`, bytesShown(callLimits.requestBytesMax)],
  [html`Writes and moves of a call`, html`${storeLimits.changesMax}`],
  [html`A file`, bytesShown(storeLimits.fileBytesMax)],
  [html`A user’s scope, trash included`, bytesShown(storeLimits.scopeBytesMax)],
  [html`Lines that a call may log`, html`${callLimits.logLinesMax} of ${callLimits.logLineCharsMax} characters`],
];
