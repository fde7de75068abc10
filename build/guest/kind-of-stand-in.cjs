/**
 * Replaces kind-of, which knows thirty kinds of value and takes 12 KB of a plugin. gray-matter only asks whether something
 * is an object, a text or a buffer, and there are no buffers in the sandbox.
 */
module.exports = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
