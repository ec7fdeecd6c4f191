// What docs/security.md says: who may administer what.

import type { Operation } from '../src/http/operation.ts'
import * as limits from '../src/http/server/limits.ts'
import { listRolesGranting } from '../src/kinds/admin-roles.ts'

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
- \`manage-clients\` decides where tokens go. So tokens of a client carry administrative roles only as far as its last editor could grant them, whoever logs in
  there. If an application administers with tokens of its users, let an administrator with \`realm-admin\` edit its client last. Built-in clients, such as
  \`admin-cli\` and \`security-admin-console\`, are changed only with \`realm-admin\`, but for their names and the like ([decision 0072](decisions/0072-editors-of-clients.md)).
- Secrets and private keys of clients are shown to who has \`manage-clients\`, and masked for who has only \`view-clients\`: a secret lets its reader act as
  the client. Keycloak shows them to both.
- An empty secret is no secret, wherever it is written: a client that keeps one gets a generated one, and nothing is compared with it. So a variable that is
  empty by mistake opens no client.
- Administrative roles, and the clients that hold them, are changed over REST by nobody, as in Keycloak. Documents and imports may declare them.
- Who reads the store, its key file or an export with secrets stands above all rules.

## Roles by operation

One role of each column that is not empty is needed.
`

const { HEAD_LIMIT, UNAUTHENTICATED_LIMIT, FIELD_LIMIT, ADMIN_LIMIT } = limits
const { WEBHOOK_LIMIT, WEBHOOKS_AT_ONCE, REVIEW_LIMIT, REVIEWS_AT_ONCE } = limits
const { HEAD_TIME, UNAUTHENTICATED_TIME, REQUEST_TIME } = limits

/** Bytes or milliseconds, as the document writes them. */
const size = (bytes: number) => (bytes < 1024 ** 2 ? `${bytes / 1024} KB` : `${bytes / 1024 ** 2} MB`)
const time = (ms: number) => (ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`)

const LIMITS = `## What a request may send

A body is read when its address wants it, and where only administrators may send one, after the token was verified. What is larger is
refused (413), and the connection closes without reading the rest. The socket gives up to 64 KB at a time, so that much may be
read beyond a limit.

| what | limit |
|---|---|
| address, headers and cookies, together | ${size(HEAD_LIMIT)} within ${time(HEAD_TIME)} |
| body where the caller is not known: every address without a bearer token, log-in pages, token endpoint, \`/realms/…\` | ${size(UNAUTHENTICATED_LIMIT)} within ${time(UNAUTHENTICATED_TIME)} |
| fields of a form, and parameters of an address | ${FIELD_LIMIT} |
| body at \`/admin\`, the base path of the legacy API and \`/regent/v1\`, once the token is verified and the caller has an admin role | ${size(ADMIN_LIMIT)} within ${time(REQUEST_TIME)} |
| the same, where the operation takes no body | ${size(UNAUTHENTICATED_LIMIT)} |
| body at \`/regent/v1/webhook\`, if it has a signature and a secret is set | ${size(WEBHOOK_LIMIT)} within ${time(UNAUTHENTICATED_TIME)}, ${WEBHOOKS_AT_ONCE} at a time |
| body at the admission port of Kubernetes | ${size(REVIEW_LIMIT)} within ${time(UNAUTHENTICATED_TIME)}, ${REVIEWS_AT_ONCE} at a time |
| hash of a password that an import brings; a more expensive one matches no password | 10,000,000 iterations of PBKDF2; with Argon2 256 MiB of memory, and 1 GiB over all iterations |
`

const OUTBOUND = `## Where the server connects to

Mail servers, identity providers, key sets, applications and repositories of \`RealmSource\` resources are named by realms, documents and callers. The
address that a name resolves to is checked, and the connection goes to that address. Redirects are not followed.

- Link-local addresses and those at which clouds tell machines their credentials are always refused, also written as IPv6.
- Loopback addresses and private networks are refused in production, unless \`--outbound-allow\` names them, such as \`10.20.0.0/16\`.
- What the server's own settings and the command line name may be anywhere.

[Decision 0075](decisions/0075-outbound-connections.md) has the details.
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
    const [first = 'any', second = ''] = needed.map((one) => listRolesGranting(one).join(', ') || '`admin` of `master`')
    return `| ${method} \`${path}\` | ${first} | ${second} |`
  })
  return [HEAD, '| operation | one of | and one of |', '|---|---|---|', ...rows, '', LIMITS, OUTBOUND, REPORT].join(
    '\n',
  )
}
