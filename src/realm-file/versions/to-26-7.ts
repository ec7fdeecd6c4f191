import { type Representation, readObjects } from '../../kinds/json.ts'
import type { ConversionContext } from '../formats/format-converter.ts'
import { assignClientScope, lacksClientScope } from './client-scopes.ts'
import { setActionPriorities } from './required-actions.ts'
import type { VersionStep } from './version-step.ts'

/** Assigns the client scope `AuthnContextClassRef` of SAML, and changes the order of required actions. Keycloak: MigrateTo26_7_0. */
export const toVersion26_7: VersionStep = {
  version: '26.7.0',
  migrate: (realm, context) => assignContextScope(orderActions(realm, context), context),
}

function assignContextScope(realm: Representation, { warn }: ConversionContext): Representation {
  if (!lacksClientScope(realm, CONTEXT_SCOPE)) return realm
  const migrated = assignClientScope(realm, { name: CONTEXT_SCOPE, type: 'default', protocol: 'saml' })
  if (migrated !== realm) warn(['clientScopes'], `SAML clients get the default client scope ${CONTEXT_SCOPE}`)
  return migrated
}

const CONTEXT_SCOPE = 'AuthnContextClassRef'

/** Lets users set an OTP and a new password after they verify their email. */
function orderActions(realm: Representation, { warn }: ConversionContext): Representation {
  const current = new Map<unknown, number>(
    readObjects(realm.requiredActions).map(({ alias, priority }) => [alias, Number(priority ?? 0)]),
  )
  const email = current.get('VERIFY_EMAIL')
  if (email === undefined) return realm
  const isDefault = email === 50 && current.get(OTP) === 10 && current.get(PASSWORD) === 30
  const migrated = setActionPriorities(realm, isDefault ? defaultPriorities : findFreePriorities(email, current))
  const advice = 'remove keycloakVersion to declare another order'
  if (migrated !== realm) warn(['requiredActions'], `${OTP} and ${PASSWORD} follow VERIFY_EMAIL: ${advice}`)
  return migrated
}

const OTP = 'CONFIGURE_TOTP'
const PASSWORD = 'UPDATE_PASSWORD'
const defaultPriorities = new Map<unknown, number>([
  [OTP, 54],
  [PASSWORD, 57],
])

/** Returns the first priorities after that of an action that no action has. */
function findFreePriorities(start: number, current: ReadonlyMap<unknown, number>): ReadonlyMap<unknown, number> {
  const used = new Set(current.values())
  const priorities = new Map<unknown, number>()
  let priority = start
  for (const alias of [OTP, PASSWORD].filter((name) => current.has(name))) {
    do priority++
    while (used.has(priority))
    priorities.set(alias, priority)
  }
  return priorities
}
