// Renders docs/security.md.

import type { Operation } from '../src/http/operation.ts'
import * as limits from '../src/http/server/limits.ts'
import { listRolesGranting } from '../src/kinds/admin-roles.ts'

const HEAD = `# Who may administer what

Administrators have roles of the client \`realm-management\` in their realm, or of \`<realm>-realm\` in master; \`admin\` of master
administers every realm. Each request uses the current roles, through groups and composite roles, as far as the token's client has them in scope.
Lists contain only objects that the caller may view. Details are in [decision 0033](decisions/0033-roles-of-administrators.md).

## No privilege escalation

Administrators cannot grant admin permissions that they do not have: not through roles, groups, scopes or mappers, not through identifiers of users,
clients or identity providers, and not through documents. Such a request returns 403 and lists the missing roles. Which changes count as a grant, and
where Keycloak allows more, is in [decision 0034](decisions/0034-one-privilege-rule.md). In practice:

- \`manage-realm\` controls how all users log in. Keys, the mail server, flows and user storage can be changed only by administrators who have all
  admin permissions that any user of the realm has. In a realm whose administrators are all users of master, \`manage-realm\` is therefore equivalent to \`realm-admin\`.
- \`manage-clients\` controls where tokens go. Tokens of a client therefore carry only admin roles that the last editor of the client could grant,
  regardless of the user. If an application uses tokens of its users for administration, let an administrator with \`realm-admin\` edit its client last. Built-in clients such as
  \`admin-cli\` and \`security-admin-console\` can be changed only with \`realm-admin\`, except for their names and similar texts ([decision 0072](decisions/0072-editors-of-clients.md)).
- Secrets and private keys of clients are returned to administrators with \`manage-clients\`, and masked for those with only \`view-clients\`, since a secret allows acting as
  the client. Keycloak returns them to both.
- An empty secret counts as no secret: a confidential client without a secret gets a generated one, and authentication with an empty secret fails. A variable that is
  empty by mistake therefore gives no access.
- Admin roles, and the clients that contain them, cannot be changed over REST, as in Keycloak. Documents and imports may declare them.
- These rules do not apply to anyone who can read the store, its key file or an export with secrets.

## Roles by operation

Each operation requires one role of each column that is not empty.
`

const { HEAD_LIMIT, UNAUTHENTICATED_LIMIT, FIELD_LIMIT, ADMIN_LIMIT } = limits
const { WEBHOOK_LIMIT, WEBHOOKS_AT_ONCE, REVIEW_LIMIT, REVIEWS_AT_ONCE } = limits
const { HEAD_TIME, UNAUTHENTICATED_TIME, REQUEST_TIME } = limits

const size = (bytes: number) => (bytes < 1024 ** 2 ? `${bytes / 1024} KB` : `${bytes / 1024 ** 2} MB`)
const time = (ms: number) => (ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`)

const LIMITS = `## Request limits

A body is read only if the operation takes one, and for operations of administrators only after the token has been verified. A larger body is
refused with 413, and the connection is closed without reading the rest. The socket delivers up to 64 KB at a time, so this much may be
read beyond a limit.

| part of a request | limit |
|---|---|
| URL, headers and cookies together | ${size(HEAD_LIMIT)} within ${time(HEAD_TIME)} |
| body of an unauthenticated request: any request without a bearer token, log-in pages, token endpoint, \`/realms/…\` | ${size(UNAUTHENTICATED_LIMIT)} within ${time(UNAUTHENTICATED_TIME)} |
| form fields, and query parameters | ${FIELD_LIMIT} |
| body at \`/admin\`, the base path of the legacy API and \`/regent/v1\`, once the token is verified and the caller has an admin role | ${size(ADMIN_LIMIT)} within ${time(REQUEST_TIME)} |
| the same, for an operation that takes no body | ${size(UNAUTHENTICATED_LIMIT)} |
| body at \`/regent/v1/webhook\`, if it has a signature and a secret is set | ${size(WEBHOOK_LIMIT)} within ${time(UNAUTHENTICATED_TIME)}, ${WEBHOOKS_AT_ONCE} concurrently |
| body at the port for Kubernetes admission reviews | ${size(REVIEW_LIMIT)} within ${time(UNAUTHENTICATED_TIME)}, ${REVIEWS_AT_ONCE} concurrently |
| imported password hash; a more expensive one never matches | 10,000,000 iterations of PBKDF2; with Argon2 256 MiB of memory, and 1 GiB over all iterations |
`

const OUTBOUND = `## Outbound connections

Hosts of mail servers, identity providers, JWKS, applications and repositories of \`RealmSource\` resources come from realms, documents and callers.
The server checks the address that a host resolves to and connects to exactly this address. It does not follow redirects.

- Link-local addresses and cloud metadata addresses are always refused, also when written as IPv6.
- Loopback addresses and private networks are refused in production, unless \`--outbound-allow\` lists them, such as \`10.20.0.0/16\`.
- Hosts in the server's own settings and on the command line may have any address.

Details are in [decision 0075](decisions/0075-outbound-connections.md).
`

const REPORT = `## How to report a vulnerability

Please do not open a public issue. Report it privately through the repository's private vulnerability reporting ("Security", then
"Report a vulnerability"), and include

- the version and the setup: the store, the settings that differ from the defaults, and proxies in front of the server;
- the access that the attacker needs: none, a user account, an administrator with certain roles, or a source of documents;
- the steps to reproduce it, with the requests or documents, and the unwanted result;
- whether it is known to others or already exploited.

We confirm that we received the report, whether we can reproduce it, and when it is fixed. We then publish the release, an advisory and a
regression test together, and credit you in the advisory if you wish. Please do not publish it before. Test only on servers and accounts
of your own.

The most important areas are privilege escalation, access across realms, secrets in responses, logs, plans,
events or exports, and tokens that should not be valid. No report about these is too small.
`

/** Returns the page, with a table of all operations. */
export function renderSecurity(operations: readonly Operation[]): string {
  const rows = operations.map(({ method, path, permission }) => {
    const required = permission === 'any' ? [] : [permission].flat()
    const [first = 'any', second = ''] = required.map(
      (permission) => listRolesGranting(permission).join(', ') || '`admin` of `master`',
    )
    return `| ${method} \`${path}\` | ${first} | ${second} |`
  })
  return [HEAD, '| operation | one of | and one of |', '|---|---|---|', ...rows, '', LIMITS, OUTBOUND, REPORT].join(
    '\n',
  )
}
