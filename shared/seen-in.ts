import { withoutHidden } from "./hidden-text.ts";
import { mayHide } from "./text.ts";

/**
 * What a model gets of a plugin's answer. A plugin of the package has no hidden characters in its answers; others must not
 * bring any to a model either.
 */
export function seenIn<Answer extends object>(answer: Answer): Answer {
  const json = JSON.stringify(answer);
  if (!mayHide(json)) return answer;
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === "string" ? withoutHidden(value, "body") : value,
  ) as Answer;
}
