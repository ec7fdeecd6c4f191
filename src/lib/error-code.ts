// Error codes of Node, PostgreSQL (SQLSTATE) and libraries.

/** Returns the code of an error, such as an SQLSTATE or `ENOENT`; undefined where it has none. */
export function getErrorCode(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}
