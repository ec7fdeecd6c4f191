// Limits of documents. Aliases could expand a few lines to gigabytes.

/** The number of characters in a megabyte. */
export const megabyte = 1024 * 1024
/** The maximum number of characters in a file. */
export const maxLength = 64 * megabyte
/** The maximum number of levels in a document with expanded aliases. */
export const maxDepth = 100
/** The maximum number of aliases in a file. */
export const maxAliases = 100_000
/** The maximum number of keys from merge keys. The default of js-yaml, 10,000, would be reached by 2,000 clients with five merged keys. */
export const maxMergedKeys = 1_000_000
/** The maximum number of characters that expanded aliases may add to a file. */
export const maxExpansion = 16 * megabyte
