// The credentials that a plan sets, made before its transaction.

import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { address } from '../../kinds/tree.ts'
import { isOfAll } from '../../service/context/errors.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { prepareCredentials, shaped } from '../../service/users/credentials.ts'
import { type PasswordPolicy, parsePolicy } from '../../service/users/password-policy.ts'
import { passwordMaker } from '../../service/users/password-rules.ts'
import type { hashPassword } from '../../service/users/passwords.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { Action, RealmPlan } from '../model/action.ts'
import { ActionError, type Statement } from './apply.ts'

const CREDENTIALS = 'credentials'

/** A trial keeps nothing: it has no use for hashes, which take their time. */
export const noHash: typeof hashPassword = async () => ({ type: 'password', secretData: '{}', credentialData: '{}' })

/**
 * What is stated, with credentials as they are kept. Passwords are hashed now: that takes its time, and comes before the
 * transaction. Throws ActionError.
 */
export async function withCredentials(
  service: Service,
  desired: DesiredRealm,
  made: RealmPlan,
  hash: typeof hashPassword,
): Promise<Statement> {
  const { objects } = desired
  const statedOf = (id: string) => (objects.get(id)?.secrets?.[CREDENTIALS] ?? []) as Representation[]
  const wanted = made.actions.filter(
    (action) => CREDENTIALS in kinds[action.kind].fields && action.changes.some(({ path }) => path === CREDENTIALS),
  )
  // What is a hash already is only looked at: of many people, it would take much room.
  const slow = wanted.filter((action) => !allKept(statedOf(address(action.kind, action.key)), action))
  const policy = slow.length ? await policyOf(service, desired, made) : parsePolicy('')
  const prepare = async (action: Action): Promise<[string, Json]> => {
    const id = address(action.kind, action.key)
    const email = objects.get(id)?.fields.get('email')?.value as string | undefined
    const make = passwordMaker(policy, service.blacklists, { username: action.key[0]!, email }, { hash })
    const credentials = prepareCredentials(statedOf(id), make).catch((error: unknown) => {
      throw isOfAll(error) ? error : new ActionError(action, error)
    })
    return [id, await credentials]
  }
  const prepared = new Map(await Promise.all(slow.map(prepare)))
  return {
    objects,
    secret: (id, path) =>
      path === CREDENTIALS ? (prepared.get(id) ?? statedOf(id).map(shaped)) : objects.get(id)?.secrets?.[path],
  }
}

/** Whether none of the credentials is a password to hash. Throws ActionError where one is none. */
function allKept(stated: readonly Representation[], action: Action): boolean {
  try {
    const kept = stated.filter(({ value }) => value == null)
    return kept.map(shaped).length === stated.length
  } catch (error) {
    throw new ActionError(action, error)
  }
}

/** What the realm will demand of passwords. One statement, or none. */
async function policyOf(service: Service, { objects, name }: DesiredRealm, made: RealmPlan): Promise<PasswordPolicy> {
  const stated = objects.get(address('realm', [name]))?.fields.get('passwordPolicy')
  const kept = () => service.read(SYSTEM, made.currentName ?? made.realm, async ({ realm }) => realm.passwordPolicy)
  const text = stated || made.creates ? (stated?.value ?? '') : await kept()
  try {
    return parsePolicy(String(text))
  } catch {
    // What is wrong with it is told of the realm, at its place.
    return parsePolicy('')
  }
}
