/** By what the list of calls can be filtered. Its classes are ours and have only numbers in them, no text of a log. */
import type { ListedCall } from "../../audit/verify/summarise-log.ts";
import { counted } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import { NamedValues } from "./named-values.ts";
import type { FacetOption } from "./named-values.ts";

export interface Facet {
  readonly key: "user" | "tool" | "outcome";
  readonly name: Markup;
  /** The choice that leaves every row. */
  readonly every: Markup;
  readonly options: readonly FacetOption[];
  /** The codes of failed calls. Only outcomes have any. */
  readonly codes: readonly FacetOption[];
  readonly classesOf: (call: ListedCall) => readonly string[];
}

export function facetsOf(calls: readonly ListedCall[]): Facet[] {
  return [userFacet(calls), toolFacet(calls), outcomeFacet(calls)];
}

function userFacet(calls: readonly ListedCall[]): Facet {
  const users = new NamedValues("u", calls, ({ userId }) => userId);
  const others = counted(users.othersCount, html`other user`, html`other users`);
  return {
    key: "user",
    name: html`User`,
    every: html`Every user`,
    options: users.options(html`no valid user id`, others),
    codes: [],
    classesOf: (call) => [users.classOf(call)],
  };
}

function toolFacet(calls: readonly ListedCall[]): Facet {
  const tools = new NamedValues("t", calls, ({ tool }) => tool);
  const others = counted(tools.othersCount, html`other tool`, html`other tools`);
  return {
    key: "tool",
    name: html`Tool`,
    every: html`Every tool`,
    options: tools.options(html`no valid tool name`, others),
    codes: [],
    classesOf: (call) => [tools.classOf(call)],
  };
}

const outcomes: readonly (FacetOption & { readonly isMet: (call: ListedCall) => boolean })[] = [
  { className: "failed", label: html`Failed`, isMet: ({ code }) => code !== null },
  { className: "denied", label: html`Denied a capability`, isMet: ({ denials }) => denials > 0 },
  { className: "changed", label: html`Changed something`, isMet: hasChanged },
  { className: "succeeded", label: html`Succeeded`, isMet: ({ code }) => code === null },
];

function hasChanged({ written, trashed, removed, granted }: ListedCall): boolean {
  return written + trashed + removed + granted > 0;
}

function outcomeFacet(calls: readonly ListedCall[]): Facet {
  const failed = calls.filter(({ code }) => code !== null);
  const codes = new NamedValues("c", failed, ({ code }) => code);
  const others = counted(codes.othersCount, html`other code`, html`other codes`);
  return {
    key: "outcome",
    name: html`Outcome`,
    every: html`Every outcome`,
    options: outcomes,
    codes: codes.options(html`no code`, others),
    classesOf: (call) => [
      ...outcomes.filter(({ isMet }) => isMet(call)).map(({ className }) => className),
      ...(call.code === null ? [] : [codes.classOf(call)]),
    ],
  };
}
