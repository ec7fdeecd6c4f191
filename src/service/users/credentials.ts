// Credentials: what a person proves who they are with, in the one form in which they are kept.
import { randomUUID } from 'node:crypto'
import type { Json, Representation } from '../../kinds/json.ts'
import {
  deleteCredentials,
  forgetPasswords,
  insertCredentials,
  keepPasswords,
  selectCredentials,
} from '../../store/users/credentials.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { unlessTaken } from '../objects/conflicts.ts'
import type { LiveObject } from '../objects/live.ts'
import { historyOf, parsePolicy } from './password-policy.ts'
import { type KeptPassword, type PasswordMaker, type Person, passwordMaker } from './password-rules.ts'

/** Keycloak: what a person must do who was given a temporary password. */
export const UPDATE_PASSWORD = 'UPDATE_PASSWORD'

const PASSWORD = 'password'
/** Keycloak: what a password becomes that another one replaces, where the policy forbids to choose it again. */
const PASSWORD_HISTORY = 'password-history'

/**
 * Credentials as they are kept: passwords made, what earlier versions stated in the form of today. Takes its time, so it
 * comes before the transaction. Throws invalid where one is none, and what the maker throws.
 */
export function prepareCredentials(stated: readonly Representation[], make: PasswordMaker): Promise<Representation[]> {
  return Promise.all(stated.map((one) => prepare(one, make)))
}

/** Makes passwords of a person as the realm of the context wants them. */
export function passwordsOf({ realm, blacklists, now }: Context, person: Person): PasswordMaker {
  return passwordMaker(parsePolicy(realm.passwordPolicy), blacklists, person, { now })
}

/** Makes new passwords of a user. One statement. */
export async function passwordsOfUser(
  context: Context,
  { id, key, representation }: LiveObject,
): Promise<PasswordMaker> {
  const { email } = representation as { email?: string }
  return passwordsOf(context, { username: key[0]!, email, kept: await keptPasswords(context, id) })
}

/** The passwords that a user has and had. One statement. */
async function keptPasswords({ tx, realm, vault }: Context, user: string): Promise<KeptPassword[]> {
  const kept = await selectCredentials(tx, realm.number, [user])
  return kept
    .filter(({ type }) => type === PASSWORD || type === PASSWORD_HISTORY)
    .map(({ type, createdAt, body: { secretData, credentialData } }) => ({
      past: type === PASSWORD_HISTORY,
      createdAt,
      secretData: vault.open(String(secretData)),
      credentialData: String(credentialData),
    }))
}

/** A credential that needs no hashing as it is kept. Throws invalid where it is none. */
export function shaped(stated: Representation): Representation {
  const { hashedSaltedValue, secretData, credentialData, type = PASSWORD } = stated
  if (hashedSaltedValue != null) return { ...keptOf(stated), ...ofEarlierForm(stated) }
  if (secretData == null || credentialData == null) {
    throw failure('invalid', `A credential of type ${type} needs a value, or secretData and credentialData`)
  }
  return { ...keptOf(stated), type: type!, secretData: asJson(secretData), credentialData: asJson(credentialData) }
}

/** The required actions that credentials bring along: who got a temporary password needs another. */
export function actionsOf(credentials: Json | undefined): string[] {
  return asList(credentials).some(({ temporary }) => temporary === true) ? [UPDATE_PASSWORD] : []
}

const CREDENTIAL = { title: 'credential', conflict: { create: 'The id of a credential is taken' } }

/**
 * Gives users their credentials; those of the same types that they have are gone, but for passwords that the policy
 * forbids to choose again. Statements: four.
 */
export async function writeCredentials(
  { tx, realm, now, vault }: WriteContext,
  users: readonly { readonly id: string; readonly credentials: Json | undefined; readonly fresh: boolean }[],
): Promise<void> {
  const rows = users.flatMap(({ id, credentials }) =>
    asList(credentials).map(({ id: own, type, priority, createdDate, secretData, credentialData, userLabel }, at) => ({
      id: typeof own === 'string' && own ? own : randomUUID(),
      user_account: id,
      type: String(type),
      place: Number(priority ?? (at + 1) * 10),
      created_at: new Date(createdDate === undefined ? now : Number(createdDate)).toISOString(),
      body: {
        secretData: vault.seal(String(secretData)),
        credentialData: String(credentialData),
        ...(userLabel !== undefined && { userLabel }),
      },
    })),
  )
  const replaced = new Set(users.filter(({ fresh }) => !fresh).map(({ id }) => id))
  const types = rows.filter((row) => replaced.has(row.user_account))
  const renewed = types.filter(({ type }) => type === PASSWORD).map((row) => row.user_account)
  const { count, milliseconds } = historyOf(parsePolicy(realm.passwordPolicy))
  if (renewed.length && (count || milliseconds)) await keepPasswords(tx, realm.number, renewed)
  if (types.length) await deleteCredentials(tx, realm.number, types)
  if (renewed.length) {
    await forgetPasswords(tx, realm.number, { users: renewed, count, since: new Date(now.getTime() - milliseconds) })
  }
  if (rows.length) await unlessTaken(CREDENTIAL, 'create', () => insertCredentials(tx, realm.number, rows))
}

/** The credentials of users as they are kept, secrets in the clear: for an export with secrets. One statement. */
export async function credentialsOf(
  { tx, realm, vault }: Context,
  users: readonly LiveObject[],
): Promise<ReadonlyMap<string, Representation[]>> {
  const ids = users.map(({ id }) => id)
  const rows = ids.length ? await selectCredentials(tx, realm.number, ids) : []
  const shown = rows.map(({ user, id, type, createdAt, place, body }) => {
    const { secretData, ...rest } = body
    const credential = { id, type, createdDate: createdAt.getTime(), priority: place, ...rest }
    return { user, credential: { ...credential, secretData: vault.open(String(secretData)) } }
  })
  return new Map(
    [...Map.groupBy(shown, ({ user }) => user)].map(([user, own]) => [user, own.map(({ credential }) => credential)]),
  )
}

/**
 * Prepared credentials for a user who has some: one takes the place of that of its type, the others come last. One
 * statement.
 */
export async function placedAfter(
  context: Context,
  user: string,
  prepared: readonly Representation[],
): Promise<Representation[]> {
  const kept = await selectCredentials(context.tx, context.realm.number, [user])
  const last = Math.max(0, ...kept.map(({ place }) => place))
  return prepared.map((one, at) => {
    const replaced = kept.find(({ type }) => type === one.type)
    return { priority: replaced?.place ?? last + (at + 1) * 10, ...(replaced && { id: replaced.id }), ...one }
  })
}

async function prepare(stated: Representation, make: PasswordMaker): Promise<Representation> {
  const { value, type = PASSWORD } = stated
  if (value == null) return shaped(stated)
  if (type !== PASSWORD) throw failure('invalid', `A credential of type ${type} cannot be made from a value`)
  return { ...keptOf(stated), ...(await make(String(value))) }
}

/** What every form of a credential keeps as it is stated. */
function keptOf({ temporary, userLabel, id, createdDate, priority }: Representation): Representation {
  const all = Object.entries({ temporary, userLabel, id, createdDate, priority })
  return Object.fromEntries(all.filter(([, one]) => one != null)) as Representation
}

/** Keycloak: how credentials were exported before version 8. */
function ofEarlierForm(stated: Representation): Representation {
  const { type, hashedSaltedValue, salt, hashIterations, algorithm, digits, counter, period } = stated
  if (type === 'totp' || type === 'hotp' || type === 'otp') {
    const data = {
      subType: type === 'otp' ? 'totp' : type,
      digits: digits ?? 6,
      counter: counter ?? 0,
      period: period ?? 30,
      algorithm: algorithm ?? 'HmacSHA1',
    }
    return {
      type: 'otp',
      secretData: JSON.stringify({ value: hashedSaltedValue }),
      credentialData: JSON.stringify(data),
    }
  }
  return {
    type: 'password',
    secretData: JSON.stringify({ value: hashedSaltedValue, salt: salt ?? null, additionalParameters: {} }),
    credentialData: JSON.stringify({
      hashIterations: hashIterations ?? 1,
      algorithm: algorithm ?? 'pbkdf2',
      additionalParameters: {},
    }),
  }
}

/** The text, if it is JSON. */
function asJson(text: Json): string {
  try {
    JSON.parse(String(text))
    return String(text)
  } catch {
    throw failure('invalid', 'secretData and credentialData of a credential are texts that hold JSON')
  }
}

function asList(credentials: Json | undefined): Representation[] {
  return (credentials ?? []) as Representation[]
}
