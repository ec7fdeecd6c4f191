// The writers of realms: updates, renaming, deletion, and the protection of master.
import { getAdminClientId, MASTER } from '../../kinds/built-in/index.ts'
import { type FlatFields, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readTexts } from '../../kinds/json.ts'
import { recordDeletedRealm } from '../../store/sources/guard-queries.ts'
import { reserveAllEmails } from '../../store/users/users.ts'
import { addAdminPermissionsClient, removeAdminPermissionsClient } from '../clients/admin-permissions-client.ts'
import { ALL_PERMISSIONS } from '../context/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { digestSecrets } from '../context/secrets.ts'
import { sendWrite } from '../context/send-write.ts'
import { recordEventInOwnRealm } from '../journal/admin-events.ts'
import { flushJournal, recordEntry } from '../journal/journal.ts'
import { deleteObjectsWithDependents } from '../objects/deletion.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { createPlainWriters, toUpdatedRepresentation, updateLiveObjects } from '../objects/plain-writers.ts'
import type { Writers } from '../objects/writers.ts'
import { syncAttributeFields } from './attribute-settings.ts'
import { runInMaster } from './master-realm.ts'
import { checkRealmName, checkRealmSettings } from './realm-checks.ts'

const writers = createPlainWriters('realm')

/** The writers of the realm of the context. `createRealm` creates realms. */
export const realms: Writers = {
  ...writers,
  /** Ignores the filter: the context has one realm, and a caller may know it by an earlier name. */
  list: (context) => writers.list(context, {}),
  async create() {
    throw new Error('Realms are created by createRealm')
  },
  async update(context, changes) {
    const updates = changes.map((update) => ({ ...update, set: syncAttributeFields(update.set) }))
    for (const update of updates) {
      const { set } = update
      if (context.realm.name === MASTER) checkMasterUpdate(set)
      if ('realm' in set) checkRealmName(set.realm)
      const names = new Set(Object.keys(set).map((path) => resolveField(kinds.realm, path).name))
      checkRealmSettings(toUpdatedRepresentation(update), names, context.passwordBlacklists)
    }
    const updated = await writers.update(context, updates)
    for (const { live, set } of updates) {
      if ('realm' in set) await renameDependents(context, String(set.realm))
      if ('duplicateEmailsAllowed' in set) {
        await reserveAllEmails(context.tx, context.realm.number, set.duplicateEmailsAllowed === true)
      }
      const wasEnabled = live.representation.adminPermissionsEnabled === true
      const { adminPermissionsEnabled = wasEnabled } = set
      if (adminPermissionsEnabled === true && !wasEnabled) await addAdminPermissionsClient(context)
      if (adminPermissionsEnabled !== true && wasEnabled) await removeAdminPermissionsClient(context)
    }
    return updated
  },
  async delete(context, objects) {
    if (context.realm.name === MASTER) throw failure('invalid', "Can't remove master realm")
    await runInMaster(context, async (master) => {
      const admin = await listObjects(master, 'client', { keys: [[getAdminClientId(context.realm.name)]] })
      // The roles of the admin client grant nothing without the realm, so deleting the realm is permission enough.
      await deleteObjectsWithDependents({ ...master, permissions: ALL_PERMISSIONS }, 'client', admin)
    })
    for (const realm of objects)
      recordEntry(context, {
        operation: 'delete',
        kind: 'realm',
        object: realm,
        fields: digestSecrets(context.vault, kinds.realm, realm.representation),
      })
    await flushJournal(context)
    await sendWrite(context, recordDeletedRealm(context.tx, context.realm.number, context.now))
    await writers.delete({ ...context, entries: [] }, objects)
    const event = { operationType: 'DELETE', resourceType: 'REALM', resourcePath: context.realm.name } as const
    await recordEventInOwnRealm(context, event)
  },
}

/** Throws invalid where master would be renamed or disabled, which would lock out all administrators. */
function checkMasterUpdate(set: FlatFields): void {
  if ('realm' in set && set.realm !== MASTER) throw failure('invalid', "Can't rename master realm")
  if (set.enabled === false || set.enabled === null) throw failure('invalid', "Can't disable master realm")
}

/** Renames the admin client, and updates the URLs of built-in clients. Keycloak: both contain the name of the realm. */
async function renameDependents(context: WriteContext, name: string): Promise<void> {
  const old = context.realm.name
  if (name === old) return
  await runInMaster(context, async (master) => {
    const admin = await listObjects(master, 'client', { keys: [[getAdminClientId(old)]] })
    await updateLiveObjects(
      master,
      'client',
      admin.map((live) => ({ live, set: { clientId: getAdminClientId(name) } })),
    )
  })
  const builtInClients = await listObjects(context, 'client', {
    keys: [['account'], ['account-console'], ['security-admin-console']],
  })
  await updateLiveObjects(
    context,
    'client',
    builtInClients.map((live) => ({ live, set: renameUrls(live, old, name) })),
  )
}

function renameUrls({ representation }: LiveObject, old: string, name: string): Representation {
  const rename = (url: string) =>
    url.replace(`/realms/${old}/`, `/realms/${name}/`).replace(`/admin/${old}/`, `/admin/${name}/`)
  return {
    ...(representation.baseUrl !== undefined && { baseUrl: rename(String(representation.baseUrl)) }),
    redirectUris: readTexts(representation.redirectUris).map(rename),
  }
}
