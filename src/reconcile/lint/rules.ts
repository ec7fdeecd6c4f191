// The rules of `regent lint`: what the field agrees on, each with its source.
import { clientRules } from './clients.ts'
import { connectionRules } from './connections.ts'
import { realmRules } from './realms.ts'
import type { Rule } from './rule.ts'

/** Every rule by its id. */
export const rules: Readonly<Record<string, Rule>> = {
  'plain-secret': {
    finds: 'a secret or password in plain text in a document',
    source: ['CWE-798', 'https://cwe.mitre.org/data/definitions/798.html'],
    find: ({ object: { literal } }) =>
      literal.map((path) => ({
        path,
        message: `${path}: the secret is in plain text: rotate it, and use $(env:NAME), $(file:PATH) or $(generated:NAME)`,
      })),
  },
  ...clientRules,
  ...realmRules,
  ...connectionRules,
}
