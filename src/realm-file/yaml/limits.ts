// How large and how deep documents may be: a few lines can stand for gigabytes.

/** Characters of a megabyte, as messages count them. */
export const megabyte = 1024 * 1024
/** Characters of a file. */
export const maxLength = 64 * megabyte
/** Levels of a document, aliases written out. */
export const maxDepth = 100
/** Uses of aliases in a file. */
export const maxAliases = 100_000
/** Keys that merge keys bring in: js-yaml's 10,000 would stop 2,000 clients that share five merged settings. */
export const maxMergedKeys = 1_000_000
/** How much longer than the file the values may be once aliases are written out. */
export const maxGrowth = 16 * megabyte
