/** gray-matter imports Node's `fs`, section-matter and its own writer for functions that no plugin calls. */
export default null;
