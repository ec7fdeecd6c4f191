// What docs/security.md says: who may administer what.
import type { Operation } from '../src/http/operation.ts'
import { rolesGiving } from '../src/kinds/admin-roles.ts'

const HEAD = `# Who may administer what

Administrators have roles of the client \`realm-management\` in their realm, or of \`<realm>-realm\` in master; \`admin\` of master
administers every realm. Roles count as they are now, through groups and composites, as far as the client of the token shows them.
Lists hold what the caller may see. How this is decided is told in [decision 0033](decisions/0033-roles-of-administrators.md).

Nobody gives administrative roles that let others do more than they could do themselves: not by a role, a group, a password or a mail
address, and not in the place of somebody else. Ways that are not looked at yet are told in the [README](../README.md).

## Roles by operation

One role of each column that is not empty is needed.
`

/** The document, with a table of all operations. */
export function renderSecurity(operations: readonly Operation[]): string {
  const rows = operations.map(({ method, path, permission }) => {
    const needed = permission === 'any' ? [] : [permission].flat()
    const [first = 'any', second = ''] = needed.map((one) => rolesGiving(one).join(', '))
    return `| ${method} \`${path}\` | ${first} | ${second} |`
  })
  return [HEAD, '| operation | one of | and one of |', '|---|---|---|', ...rows, ''].join('\n')
}
