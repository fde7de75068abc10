/**
 * gray-matter takes these two of its own, older js-yaml when it is loaded, as the engine it would use by default. A
 * plugin always names the engine, so the older js-yaml need not be linked in.
 */
const unused = (): never => {
  throw new Error("Cannot read front matter: name a YAML engine");
};

export const safeLoad = unused;
export const safeDump = unused;
