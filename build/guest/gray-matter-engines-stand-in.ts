/**
 * Replaces gray-matter's own engines: an older js-yaml, JSON, and one that calls `eval` on a file's content. A plugin
 * always passes its own engine, so none of them is needed.
 *
 * The `eval` would also add 300 KB to the plugin: it can use every variable in scope, so the bundler could not shorten
 * names or drop dead code, and the engine would keep all variables alive.
 */
export const javascript = undefined;
