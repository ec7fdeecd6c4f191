import { readObjects, readText } from '../../kinds/json.ts'
import { setActionPriorities } from './required-actions.ts'
import type { VersionStep } from './version-step.ts'

/** Orders required actions by their names, since earlier versions had no order. Keycloak: MigrateTo4_2_0. */
export const toVersion4_2: VersionStep = {
  version: '4.2.0',
  migrate(realm, { warn }) {
    const actions = readObjects(realm.requiredActions)
    // Keycloak: the import adds this action first.
    const isMissing = !actions.some(({ alias }) => alias === DELETE_ACCOUNT.alias)
    const sorted = [...actions, ...(isMissing ? [DELETE_ACCOUNT] : [])]
      .map(({ alias, name }) => ({ alias, name: readText(name) ?? String(alias) }))
      .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    const priorities = new Map(sorted.map(({ alias }, at) => [alias, (at + 1) * STEP]))
    const migrated = setActionPriorities(realm, priorities)
    if (migrated !== realm) warn(['requiredActions'], 'required actions are ordered by their names')
    return migrated
  },
}

const STEP = 10
const DELETE_ACCOUNT = { alias: 'delete_account', name: 'Delete Account' }
