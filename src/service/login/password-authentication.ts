// Authentication of users by name and password.
import type { Representation } from '../../kinds/json.ts'
import { waitForBeat } from '../../lib/timing/constant-duration.ts'
import { insertUserEntries } from '../../store/journal/journal.ts'
import { replaceHash } from '../../store/users/credentials.ts'
import { findUserForLogin, requireAction, type StoredUser, type UserWithPasswords } from '../../store/users/users.ts'
import { announceAccessChange } from '../context/access-changes.ts'
import type { Context } from '../context/context.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import { findInDirectory, importUserForLogin } from '../federation/directory-login.ts'
import type { PasswordOutcome } from '../federation/store-connection.ts'
import { recordAuditEvents, toAuditedChanges } from '../journal/audit-trail.ts'
import { UPDATE_PASSWORD } from '../users/credentials.ts'
import { isPermanentlyLocked } from '../users/lockout.ts'
import { hashPassword, needsRehash, simulateVerification, verifyPassword } from '../users/password-hashing.ts'
import { getPasswordHashing, isPasswordExpired, parsePasswordPolicy } from '../users/password-policy.ts'
import { evaluateAttempt, type LoginRealm } from './brute-force-protection.ts'

/** The result of a login with a password. */
export type PasswordLoginResult =
  /** The user, and the id of the credential, unless the password is in a directory. */
  | { readonly user: StoredUser; readonly credential?: string | undefined; readonly error?: undefined }
  /** Keycloak: the error codes of its events. Responses must not reveal them to the caller. */
  | {
      readonly user?: StoredUser | undefined
      readonly credential?: undefined
      readonly error: 'user_not_found' | 'invalid_user_credentials' | 'user_temporarily_disabled' | 'user_disabled'
    }

/** A submitted username and password, and the IP address that they come from. */
export interface PasswordForm {
  readonly username: string
  readonly password: string
  readonly address?: string | undefined
}

/**
 * Authenticates a user by name, or by email address if the realm allows it, and password. Must not be called inside a
 * transaction: it takes as long as a password hash, also for unknown and for locked users. On success it rehashes the
 * password if the policy asks for another hash, and adds the required action UPDATE_PASSWORD if it has expired. It checks
 * neither that the account is enabled, nor clears login failures: see `clearLoginFailures`.
 */
export async function authenticatePassword(
  service: Service,
  realm: LoginRealm,
  form: PasswordForm,
): Promise<PasswordLoginResult> {
  const startedAt = performance.now()
  const result = await evaluateForm(service, realm, form)
  if (result.error !== undefined) await waitForBeat(REFUSAL_INTERVAL_MS, startedAt)
  return result
}

/** Refusals are delayed to a multiple of this, so that their time does not reveal whether the user exists. */
const REFUSAL_INTERVAL_MS = 20

async function evaluateForm(service: Service, realm: LoginRealm, form: PasswordForm): Promise<PasswordLoginResult> {
  const { password, address } = form
  const username = form.username.toLowerCase()
  const { loginWithEmailAllowed, duplicateEmailsAllowed } = realm.settings
  const byEmail = loginWithEmailAllowed === true && duplicateEmailsAllowed !== true
  const { user, context } = await findUser(service, realm, { name: username, byEmail })
  const directory = realm.hasUserStores ? await findInDirectory(service, realm, user) : undefined
  const stored = user?.passwords[0] && decryptPassword(context, user.passwords[0])
  const policy = parsePasswordPolicy(context.realm.passwordPolicy)
  const hashing = getPasswordHashing(policy)
  let ofDirectory: PasswordOutcome | undefined
  const evaluate = async () => {
    if (stored && (!directory || directory.hasLocalPasswords))
      return verifyPassword(password, stored.secretData, stored.credentialData)
    if (!directory) return simulateVerification(password, hashing)
    ofDirectory = await directory.verify(password)
    return ofDirectory !== 'refused'
  }
  const outcome = await evaluateAttempt(service, realm, { user, username, address, evaluate })
  if (outcome === 'locked') await simulateVerification(password, hashing)
  if (!user) return { error: 'user_not_found' }
  if (outcome === 'locked') {
    return { user, error: isPermanentlyLocked(user.body) ? 'user_disabled' : 'user_temporarily_disabled' }
  }
  if (outcome === 'failed' || !(stored || directory)) {
    return { user, error: user.body.enabled === true ? 'invalid_user_credentials' : 'user_disabled' }
  }
  if (ofDirectory === 'expired')
    return service.writeRuntime(SYSTEM, realm, async (context) => ({
      user: await addRequiredAction(context, user, UPDATE_PASSWORD),
    }))
  if (!stored || ofDirectory) return { user }
  const newHash = needsRehash(stored.secretData, stored.credentialData, hashing)
    ? await hashPassword(password, hashing)
    : undefined
  const isExpired = isPasswordExpired(policy, stored.createdAt, context.now)
  if (!newHash && !isExpired) return { user, credential: stored.id }
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    if (newHash) await saveHash(context, stored, newHash)
    return { user: isExpired ? await addRequiredAction(context, user, UPDATE_PASSWORD) : user, credential: stored.id }
  })
}

/** Returns the user with a name. A user of a directory is imported, updated or deleted before, as the entry is. */
async function findUser(
  service: Service,
  realm: LoginRealm,
  login: { readonly name: string; readonly byEmail: boolean },
) {
  if (realm.hasUserStores) await importUserForLogin(service, realm, login)
  return service.read(SYSTEM, realm, async (context) => ({
    user: await findUserForLogin(context.tx, context.realm.number, login),
    context,
  }))
}

/** Returns a stored password with its secret in plain text. */
function decryptPassword({ vault }: Context, { id, createdAt, body }: UserWithPasswords['passwords'][number]) {
  const [secretData, credentialData] = [vault.open(String(body.secretData)), String(body.credentialData)]
  return { id, body, createdAt: new Date(createdAt), secretData, credentialData }
}

/** Replaces the hash of a password, unless the password has changed meanwhile. One statement. */
function saveHash(
  { tx, realm, vault }: Context,
  { id, body }: { readonly id: string; readonly body: Representation },
  { secretData, credentialData }: Representation,
): Promise<void> {
  const after = { ...body, secretData: vault.seal(String(secretData)), credentialData: credentialData! }
  return replaceHash(tx, realm.number, { id, before: body, after })
}

/**
 * Adds a required action and returns the user with it; returns the user unchanged if the realm has not enabled the action.
 * Three statements; one more for the audit trail.
 */
async function addRequiredAction(context: Context, user: StoredUser, action: string): Promise<StoredUser> {
  const { tx, realm, now, actor } = context
  const before = await requireAction(tx, realm.number, { id: user.id, action })
  if (!before) return user
  const fields = { requiredActions: before }
  const entry = { operation: 'update', kind: 'user', object: user.id, key: [user.username], fields } as const
  await insertUserEntries(tx, realm.number, { at: now, actor, entries: [entry], except: [] })
  await recordAuditEvents(context, toAuditedChanges([entry]))
  await announceAccessChange(context, user.id)
  return { ...user, body: { ...user.body, requiredActions: [...before, action] } }
}
