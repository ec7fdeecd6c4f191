/** The fields of a form; of several values of a field the first counts. */
export function formOf(body: unknown): Record<string, string> {
  const fields = Object.entries((body ?? {}) as Record<string, string | string[]>)
  return Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? value[0]! : value]))
}
