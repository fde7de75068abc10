/** What records say in the caller's own words: its labels, and the origin of the call. All of it is in clear text. */
import { callLimits } from "../../shared/limits.ts";
import { originClasses, originLimits } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import { labelNamePattern, labelValuePattern } from "../values/call-context.ts";
import { originTexts } from "../values/origin.ts";

const labelName = z.string().check(z.regex(labelNamePattern), z.maxLength(callLimits.labelNameCharsMax));
const labelValue = z.string().check(z.regex(labelValuePattern), z.maxLength(callLimits.labelValueCharsMax));
const hasFewLabels = (labels: object): boolean => Object.keys(labels).length <= callLimits.labelsMax;

const text = ({ charsMax, pattern }: (typeof originTexts)[keyof typeof originTexts]) =>
  z.optional(z.string().check(z.regex(pattern), z.maxLength(charsMax)));

const originClass = z.enum(originClasses);

const origin = z.strictObject({
  /** `unstated` if the program has only said what the model was exposed to. */
  class: originClass,
  run: text(originTexts.run),
  turn: text(originTexts.turn),
  source: text(originTexts.source),
  /** What has entered the model's context in this turn; absent if the program has not said. */
  exposedTo: z.optional(z.array(originClass).check(z.minLength(1), z.maxLength(originLimits.exposedToMax))),
});

export const fromCaller = {
  /** The caller's labels, by name; absent when it gave none. */
  labels: z.optional(z.record(labelName, labelValue).check(z.refine(hasFewLabels))),
  /** What the caller has said about the call's origin; absent when it has said nothing. */
  origin: z.optional(origin),
};
