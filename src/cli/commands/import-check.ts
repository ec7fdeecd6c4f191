// The check before an import: what is carried over, what is not, and what Regent stores without executing it. It writes nothing.

import { type Representation, readObject, readObjects } from '../../kinds/json.ts'
import { KEY_PROVIDER } from '../../kinds/key-providers.ts'
import { parseRealm } from '../../realm-file/parse-realm.ts'
import { createDocument } from '../../realm-file/yaml/document.ts'
import type { AdminServer } from '../../reconcile/read/server/admin-server.ts'
import { formatKindCount } from '../../reconcile/report/action-groups.ts'
import { renderNote } from '../../reconcile/report/text-report.ts'
import type { ExportedCredentials } from '../inputs/signing-keys.ts'
import { withNewStore } from '../new-store.ts'
import { paint } from '../paint.ts'

/** A realm that was read from another server, and its migrated document. */
export interface CheckedRealm {
  readonly realm: Representation
  readonly document: Representation
  readonly warnings: readonly string[]
  /** The names of the key providers whose keys are imported. */
  readonly keyProviders: ReadonlySet<string>
  readonly credentials: ExportedCredentials | undefined
}

/** Returns the result of the check as text. Plans the document on a new store in memory. @throws DocumentError for what Regent refuses. */
export async function checkImport(server: AdminServer, url: string, checked: CheckedRealm): Promise<string> {
  const { realm, document, warnings } = checked
  const name = String(realm.realm)
  const sessions = readObjects(await server.get(`${encodeURIComponent(name)}/client-session-stats`, []))
  const documents = [createDocument(url, document)]
  const { realms } = await withNewStore(async (service) => {
    const { validateSource } = await import('../../reconcile/run/run.ts')
    const source = { name, revision: url, documents, files: [] }
    return validateSource(service, source, { realms: [{ name, realmReference: undefined }], strict: undefined })
  })
  const notes = [...warnings.map((message) => ({ message })), ...realms.flatMap(({ plan }) => plan.notes)].map((note) =>
    renderNote(note, paint),
  )
  return [
    `Imported from ${url}:`,
    ...countObjects(url, realm),
    'Not imported:',
    ...listLosses(checked, sessions),
    ...(notes.length ? ['Imported with a difference, or without effect:', ...notes] : []),
    'Nothing was written.',
  ].join('\n')
}

/** Returns a line for each kind with the number of its objects. */
function countObjects(url: string, realm: Representation): string[] {
  const { objects } = parseRealm(createDocument(url, realm), 'warn')
  return [...Map.groupBy(objects, ({ kind }) => kind)].map(([kind, { length }]) => `  ${formatKindCount(length, kind)}`)
}

/** Returns a line for each thing that the admin API does not return. */
function listLosses({ realm, keyProviders, credentials }: CheckedRealm, sessions: readonly Representation[]): string[] {
  const users = readObjects(realm.users).filter(
    ({ serviceAccountClientId }) => (serviceAccountClientId ?? null) === null,
  )
  const keys = readObjects(readObject(realm.components)[KEY_PROVIDER]).filter(
    ({ name }) => !keyProviders.has(String(name)),
  )
  return [
    `  passwords and other credentials of ${formatKindCount(users.length, 'user')}: to keep them,`,
    `    ${adviseOnCredentials(credentials)}`,
    ...keys.map(({ name, providerId }) => `  key of ${name} (${providerId}): without --keys, the realm gets a new one`),
    ...sessions.flatMap(({ clientId, active, offline }) => [
      ...countSessions(Number(active ?? 0), `session of the client ${clientId}: users log in again`),
      ...countSessions(Number(offline ?? 0), `offline session of the client ${clientId}: it needs a new offline token`),
    ]),
    '  events, and login failures of users',
  ]
}

/** Returns the advice to apply an export, which ends a sentence. Credentials in files count only when their users are created. */
export function adviseOnCredentials(credentials: ExportedCredentials | undefined): string {
  const subject = credentials
    ? `${credentials.path}, which has those of ${formatKindCount(credentials.userCount, 'user')},`
    : 'an export of "kc.sh export"'
  return `apply ${subject} instead of this import, to a realm that does not exist here yet`
}

const countSessions = (count: number, description: string): string[] =>
  count ? [`  ${count} ${count === 1 ? description : description.replace('session', 'sessions')}`] : []
