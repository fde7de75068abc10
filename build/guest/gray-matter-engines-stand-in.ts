/**
 * gray-matter's own engines: an older js-yaml, JSON, and one that calls `eval` on what a file says. A plugin always
 * names its engine, so none of them is linked in.
 *
 * The `eval` is worse than unused: it may name every variable around it, so the bundler would shorten no name and drop
 * no dead code, and the engine would keep every variable of the bundle alive. It cost 300 KB of the plugin.
 */
export const javascript = undefined;
