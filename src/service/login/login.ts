// Who logs in: users by name, address or id, and whether a password is theirs.
import type { Representation } from '../../kinds/json.ts'
import { untilBeat } from '../../lib/timing/no-sooner.ts'
import { insertPeopleEntries } from '../../store/journal/journal.ts'
import { replaceHash } from '../../store/users/credentials.ts'
import {
  findServiceAccount,
  findUser,
  findUserForLogin,
  requireAction,
  type StoredUser,
  type UserAtLogin,
} from '../../store/users/users.ts'
import type { Context } from '../context/context.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import { UPDATE_PASSWORD } from '../users/credentials.ts'
import { isLockedForGood } from '../users/lockout.ts'
import { hashingOf, isExpired, parsePolicy } from '../users/password-policy.ts'
import { hashPassword, isHashedOtherwise, verifyNothing, verifyPassword } from '../users/passwords.ts'
import { attempted, type LogInRealm } from './attempts.ts'

/** What a log-in with a password came to. */
export type LogIn =
  /** It was right: whose it is, and the id of the credential. */
  | { readonly user: StoredUser; readonly credential: string; readonly error?: undefined }
  /** It was not. Keycloak: the words of its events. To whoever tries, all of them are the same. */
  | {
      readonly user?: StoredUser | undefined
      readonly credential?: undefined
      readonly error: 'user_not_found' | 'invalid_user_credentials' | 'user_temporarily_disabled' | 'user_disabled'
    }

/** A name and a password, and where they come from. */
export interface PasswordForm {
  readonly username: string
  readonly password: string
  readonly address?: string | undefined
}

/**
 * Whose name and password these are, in that realm. Not inside a transaction: it takes its time,
 * and the same whether there is such a user or not, and whether they are locked or not. A right password is hashed anew
 * where the realm wants another hash, and demands another password where it is too old; it does not say that the account is
 * enabled, and `forgetFailures` is for the end of the log-in.
 */
export async function authenticatePassword(service: Service, realm: LogInRealm, form: PasswordForm): Promise<LogIn> {
  const started = performance.now()
  const logIn = await evaluate(service, realm, form)
  if (logIn.error !== undefined) await untilBeat(BEAT, started)
  return logIn
}

/** Milliseconds. Refusals leave on a beat, so that it does not show how much longer it took to look somebody up who exists. */
const BEAT = 20

async function evaluate(
  service: Service,
  realm: LogInRealm,
  { username: given, password, address }: PasswordForm,
): Promise<LogIn> {
  const username = given.toLowerCase()
  const { loginWithEmailAllowed, duplicateEmailsAllowed } = realm.settings
  const byEmail = loginWithEmailAllowed === true && duplicateEmailsAllowed !== true
  const { user, context } = await service.read(SYSTEM, realm, async (context) => ({
    user: await findUserForLogin(context.tx, context.realm.number, { name: username, byEmail }),
    context,
  }))
  const kept = user?.passwords[0] && opened(context, user.passwords[0])
  const policy = parsePolicy(context.realm.passwordPolicy)
  const nothing = () => verifyNothing(password, hashingOf(policy))
  const outcome = await attempted(service, realm, { user, username, address }, () =>
    kept ? verifyPassword(password, kept.secretData, kept.credentialData) : nothing(),
  )
  if (outcome === 'locked') await nothing()
  if (!user) return { error: 'user_not_found' }
  if (outcome === 'locked') {
    return { user, error: isLockedForGood(user.body) ? 'user_disabled' : 'user_temporarily_disabled' }
  }
  if (outcome === 'wrong' || !kept) {
    return { user, error: user.body.enabled === true ? 'invalid_user_credentials' : 'user_disabled' }
  }

  const wanted = hashingOf(policy)
  const rehashed = isHashedOtherwise(kept.secretData, kept.credentialData, wanted)
    ? await hashPassword(password, wanted)
    : undefined
  const expired = isExpired(policy, kept.createdAt, context.now)
  if (!rehashed && !expired) return { user, credential: kept.id }
  return service.runtime(SYSTEM, realm, async (context) => {
    if (rehashed) await keepHash(context, kept, rehashed)
    return { user: expired ? await demandAction(context, user, UPDATE_PASSWORD) : user, credential: kept.id }
  })
}

/** The user of that name or, where the realm lets people log in by it, mail address. One statement. */
export function findUserByName(context: Context, name: string, byEmail: boolean): Promise<StoredUser | undefined> {
  return findUserForLogin(context.tx, context.realm.number, { name: name.toLowerCase(), byEmail })
}

/** The user with that id. */
export function findById(context: Context, id: string): Promise<StoredUser | undefined> {
  return findUser(context.tx, context.realm.number, id)
}

/** The account of a client with that id. */
export function findAccountOf(context: Context, client: string): Promise<StoredUser | undefined> {
  return findServiceAccount(context.tx, context.realm.number, client)
}

/** A password as it is kept, its secret in the clear. */
function opened({ vault }: Context, { id, createdAt, body }: UserAtLogin['passwords'][number]) {
  const [secretData, credentialData] = [vault.open(String(body.secretData)), String(body.credentialData)]
  return { id, body, createdAt: new Date(createdAt), secretData, credentialData }
}

/** Keeps a hash in the place of another one, unless the password is a new one by now. One statement. */
function keepHash(
  { tx, realm, vault }: Context,
  { id, body }: { readonly id: string; readonly body: Representation },
  { secretData, credentialData }: Representation,
): Promise<void> {
  const after = { ...body, secretData: vault.seal(String(secretData)), credentialData: credentialData! }
  return replaceHash(tx, realm.number, { id, before: body, after })
}

/** Demands something of a user, and gives them as they are then; where the realm does not ask for it, as before. Statements: two. */
async function demandAction(context: Context, user: StoredUser, action: string): Promise<StoredUser> {
  const { tx, realm, now, actor } = context
  const before = await requireAction(tx, realm.number, { id: user.id, action })
  if (!before) return user
  const fields = { requiredActions: before }
  const entry = { operation: 'update', kind: 'user', object: user.id, key: [user.username], fields } as const
  await insertPeopleEntries(tx, realm.number, { at: now, actor, entries: [entry], except: [] })
  return { ...user, body: { ...user.body, requiredActions: [...before, action] } }
}
