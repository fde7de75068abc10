import { UnfitJson } from "../../../shared/strict-json.ts";

/** Throws `UnfitJson` before anything is made of a text: each value of it begins after a bracket or a comma. */
export function checkValues(json: string, valuesMax: number): void {
  let values = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === "\\") at++;
    else if (!isInString && (character === "[" || character === "{" || character === ",")) values++;
  }
  if (values > valuesMax) throw new UnfitJson(`has ${values} values, at most ${valuesMax} allowed`);
}
