// The credentials that a plan sets, made before its transaction.
import type { Json } from '../kinds/fields.ts'
import type { Representation } from '../kinds/kind.ts'
import { address } from '../kinds/tree.ts'
import { prepareCredentials } from '../service/credentials.ts'
import { type PasswordPolicy, parsePolicy } from '../service/password-policy.ts'
import { passwordMaker } from '../service/password-rules.ts'
import type { hashPassword } from '../service/passwords.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import type { RealmPlan } from './action.ts'
import { ActionError } from './apply.ts'
import type { DesiredRealm } from './desired.ts'

const CREDENTIALS = 'credentials'

/** A trial keeps nothing: it has no use for hashes, which take their time. */
export const noHash: typeof hashPassword = async () => ({ type: 'password', secretData: '{}', credentialData: '{}' })

/** What is stated, with credentials as they are kept: that takes its time, and comes before the transaction. Throws ActionError. */
export async function withCredentials(
  service: Service,
  desired: DesiredRealm,
  made: RealmPlan,
  hash: typeof hashPassword,
): Promise<DesiredRealm> {
  const wanted = made.actions.filter(({ changes }) => changes.some(({ path }) => path === CREDENTIALS))
  if (!wanted.length) return desired
  const policy = await policyOf(service, desired, made)
  const ready = wanted.map(async (action): Promise<[string, Json]> => {
    const id = address(action.kind, action.key)
    const stated = (desired.secret(id, CREDENTIALS) ?? []) as Representation[]
    const email = desired.objects.get(id)?.fields.get('email')?.value as string | undefined
    const make = passwordMaker(policy, service.blacklists, { username: action.key[0]!, email }, { hash })
    const credentials = prepareCredentials(stated, make).catch((error: unknown) => {
      throw new ActionError(action, error)
    })
    return [id, await credentials]
  })
  const prepared = new Map(await Promise.all(ready))
  const secret: DesiredRealm['secret'] = (id, path) =>
    (path === CREDENTIALS ? prepared.get(id) : undefined) ?? desired.secret(id, path)
  return { ...desired, secret }
}

/** What the realm will demand of passwords. One statement, or none. */
async function policyOf(service: Service, { objects, name }: DesiredRealm, made: RealmPlan): Promise<PasswordPolicy> {
  const stated = objects.get(address('realm', [name]))?.fields.get('passwordPolicy')
  const kept = () => service.read(SYSTEM, made.calledNow ?? made.realm, async ({ realm }) => realm.passwordPolicy)
  const text = stated || made.creates ? (stated?.value ?? '') : await kept()
  try {
    return parsePolicy(String(text))
  } catch {
    // What is wrong with it is told of the realm, at its place.
    return parsePolicy('')
  }
}
