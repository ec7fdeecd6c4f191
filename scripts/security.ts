// What docs/security.md says: who may administer what.
import type { Operation } from '../src/http/operation.ts'
import { rolesGiving } from '../src/kinds/admin-roles.ts'

const HEAD = `# Who may administer what

Administrators have roles of the client \`realm-management\` in their realm, or of \`<realm>-realm\` in master; \`admin\` of master
administers every realm. Roles count as they are now, through groups and composites, as far as the client of the token shows them.
Lists hold what the caller may see. How this is decided is told in [decision 0033](decisions/0033-roles-of-administrators.md).

## Nobody rises above what they hold

Nobody gives administrative power that they do not have: not by roles, groups, scopes or mappers, not by what an account, a client or an identity
provider is known by, nor by a document. Such a call answers 403 and names the roles that the caller lacks. Which ways count, which do not, and
where the reference server allows more, is told in [decision 0034](decisions/0034-one-privilege-rule.md). Of these be aware:

- \`manage-realm\` decides how everybody logs in. Keys, the mail server, flows and user stores can be changed only by who is not weaker than
  anybody who has roles in that realm; where all administrators are people of master, \`manage-realm\` is as much as all of the realm.
- \`manage-clients\` decides where people are sent after log-in. Who does that for the client of a console receives what others log in with there.
- Who reads the store, its key file or an export with secrets stands above all rules.

## Roles by operation

One role of each column that is not empty is needed.
`

const REPORT = `## How to report a vulnerability

Please do not open a public issue. Report it privately, by the private vulnerability reporting of the repository ("Security", then
"Report a vulnerability"), and say

- which version it is, and how it is set up: the store, the settings that differ from the defaults, what stands in front of it;
- who the attacker must be: nobody in particular, somebody with an account, an administrator with which roles, a source of documents;
- step by step what to do, with the requests or documents, and what happens that must not;
- whether others know of it, or it is being used.

You are told that the report has arrived, whether we see what you see, and when it is mended. Then the release, an advisory and a test that would
have found it are published together, and you are named in the advisory if you want to be. Please give us the time until then. Only test on
servers and accounts that are yours.

What counts most here: power beyond one's own, by whatever way; what one realm learns of, or does to, another; secrets in answers, logs, plans,
events or exports; tokens that should not be valid. Nothing of that is too small to report.
`

/** The document, with a table of all operations. */
export function renderSecurity(operations: readonly Operation[]): string {
  const rows = operations.map(({ method, path, permission }) => {
    const needed = permission === 'any' ? [] : [permission].flat()
    const [first = 'any', second = ''] = needed.map((one) => rolesGiving(one).join(', ') || '`admin` of `master`')
    return `| ${method} \`${path}\` | ${first} | ${second} |`
  })
  return [HEAD, '| operation | one of | and one of |', '|---|---|---|', ...rows, '', REPORT].join('\n')
}
