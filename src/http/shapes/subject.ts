// Nouns for the summaries of operations that several resources share.

/** Resources that a path can name an object of, by the path segment of their collection. */
const SUBJECTS: Readonly<Record<string, string>> = {
  users: 'a user',
  groups: 'a group',
  clients: 'a client',
  'client-scopes': 'a client scope',
  'client-templates': 'a client scope',
  instances: 'an identity provider',
}

/** Returns the object that an operation is about, `a client`, by the first collection in its path; without one, `the realm`. */
export function subjectOf(path: string): string {
  const collection = path.split('/').find((segment) => segment in SUBJECTS)
  return collection === undefined ? 'the realm' : SUBJECTS[collection]!
}

/** Returns the noun with its article: `a client`, `an organization`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`
}
