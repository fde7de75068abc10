/**
 * Where a text in memory comes from. The embedding program says so for each call (`ctx.origin`), never a tool's input.
 *
 * Five of the classes are those of OWASP's page on the poisoning of agents' memory. `owner_edit` is an edit by the person
 * whose memory it is. `unstated` is what nobody has told.
 */
export const originClasses = [
  "owner_edit",
  "direct_user",
  "model_inference",
  "tool_internal",
  "unstated",
  "tool_external",
  "untrusted_document",
] as const;

/** The classes are also the levels of trust, from the highest to the lowest. */
export type OriginClass = (typeof originClasses)[number];

export const isOriginClass = (value: unknown): value is OriginClass => originClasses.some((each) => each === value);

/** The least trusted of some classes; the most trusted class if there is none. What is no class is trusted least. */
export function lowestOf(...classes: readonly OriginClass[]): OriginClass {
  if (!classes.every(isOriginClass)) return "untrusted_document";
  const at = Math.max(0, ...classes.map((each) => originClasses.indexOf(each)));
  return originClasses[at] ?? "untrusted_document";
}

/** Whether a class is trusted as much as another, or more. */
export const isAtLeast = (trust: OriginClass, least: OriginClass): boolean =>
  originClasses.indexOf(trust) <= originClasses.indexOf(least);

/** What a program can say about the origin of a call. All together take at most 1 KB of a record. */
export const originLimits = {
  /** As long as a call's id. */
  runCharsMax: 128,
  /** Holds a UUID, a number, a movement's name. */
  turnCharsMax: 64,
  /** Holds a long URL. */
  sourceCharsMax: 512,
  /** More than there are classes, so a program can pass one for each thing that the model has seen. */
  exposedToMax: 16,
} as const;
