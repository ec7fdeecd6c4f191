// Required actions that exports list, or not.
import { isList, isObject, type Representation } from '../../kinds/json.ts'

/** Sets priorities of declared required actions, by alias. Returns the realm as it is if they have them. */
export function setActionPriorities(realm: Representation, priorities: ReadonlyMap<unknown, number>): Representation {
  const { requiredActions: actions } = realm
  if (!isList(actions)) return realm
  const isChanged = ({ alias, priority }: Representation) =>
    priorities.has(alias) && priorities.get(alias) !== Number(priority ?? 0)
  if (!actions.some((action) => isObject(action) && isChanged(action))) return realm
  return {
    ...realm,
    requiredActions: actions.map((action) =>
      isObject(action) && isChanged(action) ? { ...action, priority: priorities.get(action.alias)! } : action,
    ),
  }
}

/**
 * Disables the action that verifies profiles if an export of Keycloak does not list it. An export lists every action of its realm; realms of
 * Keycloak 23 and earlier do not have this one.
 */
export function disableMissingAction(realm: Representation): Representation {
  const { requiredActions: actions } = realm
  if (!isList(actions) || actions.some((action) => isObject(action) && action.alias === VERIFY_PROFILE)) return realm
  return { ...realm, requiredActions: [...actions, { alias: VERIFY_PROFILE, enabled: false }] }
}

const VERIFY_PROFILE = 'VERIFY_PROFILE'
