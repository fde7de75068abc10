/** gray-matter imports Node's `fs` for a function that no plugin calls. */
export default null;
