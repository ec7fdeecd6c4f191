// Codes of errors: Node's own, SQLSTATEs, those of libraries.

/** Returns the code of an error, such as an SQLSTATE or `ENOENT`; undefined where it has none. */
export function errorCode(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}
