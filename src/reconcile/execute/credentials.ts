// Prepares the credentials that a plan sets: passwords are hashed before the transaction, since that takes time.
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObjects, readText } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { reportProgress } from '../../lib/timing/progress.ts'
import { concernsWholeChange } from '../../service/context/errors.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { prepareCredentials, toStoredCredential } from '../../service/users/credentials.ts'
import type { hashPassword } from '../../service/users/password-hashing.ts'
import { type PasswordPolicy, parsePasswordPolicy } from '../../service/users/password-policy.ts'
import { createPasswordHasher } from '../../service/users/password-policy-checks.ts'
import type { Action } from '../model/action.ts'
import { ActionError } from './action-error.ts'
import type { DeclaredState } from './apply.ts'
import type { PlannedRealm } from './realm-outcome.ts'

const CREDENTIALS = 'credentials'

/** A hash function for dry runs, which need no hashes: it returns an empty one. */
export const skipHashing: typeof hashPassword = async () => ({
  type: 'password',
  secretData: '{}',
  credentialData: '{}',
})

/** Returns the declared objects with their credentials in the form in which they are stored. Throws ActionError. */
export async function prepareDeclaredState(
  service: Service,
  planned: Pick<PlannedRealm, 'desired' | 'plan'>,
  hash: typeof hashPassword,
): Promise<DeclaredState> {
  const { objects } = planned.desired
  const readDeclared = (address: string) => readObjects(objects.get(address)?.secrets?.[CREDENTIALS])
  const withCredentials = planned.plan.actions
    // The changes of a creation are computed on each access.
    .filter(
      (action) => CREDENTIALS in kinds[action.kind].fields && action.changes.some(({ path }) => path === CREDENTIALS),
    )
    .map((action) => ({ action, address: formatAddress(action.kind, action.key) }))
  // Declared hashes are converted on demand, since prepared ones of many users would take much memory.
  const withPasswords = withCredentials.filter(({ action, address }) => !areHashes(readDeclared(address), action))
  const policy = withPasswords.length ? await readPasswordPolicy(service, planned) : parsePasswordPolicy('')
  const realm = planned.plan.realm
  let done = 0
  const prepare = async ({ action, address }: (typeof withPasswords)[number]): Promise<[string, Json]> => {
    const owner = { username: action.key[0]!, email: readText(objects.get(address)?.fields.get('email')?.value) }
    const hasher = createPasswordHasher({ policy, blacklists: service.passwordBlacklists, owner, hash })
    const credentials = prepareCredentials(readDeclared(address), hasher).catch((error: unknown) => {
      throw concernsWholeChange(error) ? error : new ActionError(action, error)
    })
    const result = await credentials
    if (hash !== skipHashing) await reportProgress({ phase: 'hash', realm, done: ++done, total: withPasswords.length })
    return [address, result]
  }
  const prepared = new Map(await Promise.all(withPasswords.map(prepare)))
  return {
    objects,
    findSecret: (address, path) =>
      path === CREDENTIALS
        ? (prepared.get(address) ?? readDeclared(address).map(toStoredCredential))
        : objects.get(address)?.secrets?.[path],
  }
}

/** Whether all credentials are hashes rather than passwords. Throws ActionError if one is neither. */
function areHashes(credentials: readonly Representation[], action: Action): boolean {
  try {
    const hashes = credentials.filter(({ value }) => value == null)
    return hashes.map(toStoredCredential).length === credentials.length
  } catch (error) {
    throw new ActionError(action, error)
  }
}

/** Returns the password policy that the realm will have. One statement, or none. */
async function readPasswordPolicy(
  service: Service,
  { desired: { objects, name }, plan }: Pick<PlannedRealm, 'desired' | 'plan'>,
): Promise<PasswordPolicy> {
  const declared = objects.get(formatAddress('realm', [name]))?.fields.get('passwordPolicy')
  const readLive = () => service.read(SYSTEM, plan.currentName ?? plan.realm, async ({ realm }) => realm.passwordPolicy)
  const text = declared || plan.creates ? (declared?.value ?? '') : await readLive()
  try {
    return parsePasswordPolicy(String(text))
  } catch {
    // An invalid policy is reported for the realm, at its position.
    return parsePasswordPolicy('')
  }
}
