// Realms: renaming, the end of one, and what is never done to master.
import { adminClientOf, MASTER } from '../../kinds/built-in/index.ts'
import { type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { insertFormerRealm } from '../../store/sources/guarded.ts'
import { reserveAllAddresses } from '../../store/users/users.ts'
import { addAdminPermissions, removeAdminPermissions } from '../clients/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { everything } from '../context/power.ts'
import { digested } from '../context/secrets.ts'
import { tellOwnRealm } from '../journal/admin-events.ts'
import { flush, journal } from '../journal/journal.ts'
import { deleteAll } from '../objects/deletion.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'
import { changed, plain, updateAll } from '../objects/objects.ts'
import type { Writers } from '../objects/writers.ts'
import { inMaster } from './master.ts'
import { checkRealmName, checkSettings } from './realm-checks.ts'
import { withMirrors } from './realm-mirrors.ts'

const writers = plain('realm')

/** The writers of the realm that the context is about. A realm is made by `createRealm`. */
export const realms: Writers = {
  ...writers,
  /** There is no other, and whoever looks for it by its name may know an old one: the filter counts for nothing. */
  list: (context) => writers.list(context, {}),
  async create() {
    throw new Error('a realm is made by createRealm')
  },
  async update(context, stated) {
    const updates = stated.map((update) => ({ ...update, set: withMirrors(update.set) }))
    for (const update of updates) {
      const { set } = update
      refuseLockout(context, set)
      if ('realm' in set) checkRealmName(set.realm)
      const names = new Set(Object.keys(set).map((path) => resolve(kinds.realm, path).name))
      checkSettings(changed(update), names, context.blacklists)
    }
    const updated = await writers.update(context, updates)
    for (const { live, set } of updates) {
      if ('realm' in set) await rename(context, String(set.realm))
      if ('duplicateEmailsAllowed' in set) {
        await reserveAllAddresses(context.tx, context.realm.number, set.duplicateEmailsAllowed === true)
      }
      const before = live.representation.adminPermissionsEnabled === true
      const { adminPermissionsEnabled: after = before } = set
      if (after === true && !before) await addAdminPermissions(context)
      if (after !== true && before) await removeAdminPermissions(context)
    }
    return updated
  },
  async delete(context, objects) {
    if (context.realm.name === MASTER) throw failure('invalid', "Can't remove master realm")
    await inMaster(context, async (master) => {
      const admin = await listObjects(master, 'client', { keys: [[adminClientOf(context.realm.name)]] })
      // Its roles make nobody strong any more: they go with the realm, whoever may delete that.
      await deleteAll({ ...master, power: everything }, 'client', admin)
    })
    for (const realm of objects)
      journal(context, 'delete', 'realm', realm, digested(context.vault, kinds.realm, realm.representation))
    await flush(context)
    await insertFormerRealm(context.tx, context.realm.number, context.now)
    await writers.delete({ ...context, entries: [] }, objects)
    const gone = { operationType: 'DELETE', resourceType: 'REALM', resourcePath: context.realm.name } as const
    await tellOwnRealm(context, gone)
  },
}

/** Without master, by that name and enabled, nobody administers anything any more. */
function refuseLockout({ realm }: WriteContext, set: FlatFields): void {
  if (realm.name !== MASTER) return
  if ('realm' in set && set.realm !== MASTER) throw failure('invalid', "Can't rename master realm")
  if (set.enabled === false || set.enabled === null) throw failure('invalid', "Can't disable master realm")
}

async function rename(context: WriteContext, name: string): Promise<void> {
  const old = context.realm.name
  if (name === old) return
  // Keycloak: the administration client and the pages of built-in clients carry the realm's name.
  await inMaster(context, async (master) => {
    const admin = await listObjects(master, 'client', { keys: [[adminClientOf(old)]] })
    await updateAll(
      master,
      'client',
      admin.map((live) => ({ live, set: { clientId: adminClientOf(name) } })),
    )
  })
  const moved = await listObjects(context, 'client', {
    keys: [['account'], ['account-console'], ['security-admin-console']],
  })
  await updateAll(
    context,
    'client',
    moved.map((live) => ({ live, set: movedUris(live, old, name) })),
  )
}

function movedUris({ representation }: LiveObject, old: string, name: string): Representation {
  const move = (uri: unknown) =>
    String(uri).replace(`/realms/${old}/`, `/realms/${name}/`).replace(`/admin/${old}/`, `/admin/${name}/`)
  return {
    ...(representation.baseUrl !== undefined && { baseUrl: move(representation.baseUrl) }),
    redirectUris: ((representation.redirectUris ?? []) as string[]).map(move),
  }
}
