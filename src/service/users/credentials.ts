// Credentials of users, in the form in which they are stored.
import { randomUUID } from 'node:crypto'
import { type Json, type Representation, readObjects, readText } from '../../kinds/json.ts'
import {
  archivePasswords,
  deleteCredentials,
  deleteOldPasswords,
  insertCredentials,
  selectCredentials,
} from '../../store/users/credentials.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { withConflictErrors } from '../objects/conflicts.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { findPasswordStore, findRegistrationStore } from './federated-users.ts'
import { hashPassword } from './password-hashing.ts'
import { getPasswordHistory, parsePasswordPolicy } from './password-policy.ts'
import {
  createPasswordHasher,
  type PasswordHasher,
  type PasswordOwner,
  type StoredPassword,
} from './password-policy-checks.ts'

/** Keycloak: the required action of users with a temporary password. */
export const UPDATE_PASSWORD = 'UPDATE_PASSWORD'

const PASSWORD = 'password'
/** The type of one-time codes, and its two legacy forms. */
const ONE_TIME_CODES = ['otp', 'totp', 'hotp']
/** Keycloak: the type of a replaced password that the policy forbids to choose again. */
const PASSWORD_HISTORY = 'password-history'

/**
 * Converts declared credentials to the form in which they are stored: hashes passwords, and converts legacy fields. It is
 * slow, so it must be called before the transaction. Throws invalid where a credential is incomplete, and what `hash`
 * throws.
 */
export function prepareCredentials(
  declared: readonly Representation[],
  hash: PasswordHasher,
): Promise<Representation[]> {
  return Promise.all(declared.map((credential) => prepareCredential(credential, hash)))
}

/**
 * Returns a function that checks and hashes the passwords of new users by the policy of the context's realm. If the user is created in a
 * directory, the password remains in plain text.
 */
export async function createNewPasswordHasher(
  context: Context,
  owner: PasswordOwner,
  { isRegistration = false }: { readonly isRegistration?: boolean } = {},
): Promise<PasswordHasher> {
  const store = await findRegistrationStore(context)
  if (!store) return createRealmPasswordHasher(context, owner)
  // Keycloak: users who register comply with the policy of the realm in any case.
  const isChecked = store.validatesPasswords || isRegistration
  return createRealmPasswordHasher(context, owner, { hash: toPlainPassword, isChecked })
}

/** Returns a function that checks and hashes passwords by the policy of the context's realm. */
export function createRealmPasswordHasher(
  { realm, passwordBlacklists, now }: Context,
  owner: PasswordOwner,
  { hash = hashPassword, isChecked = true }: { readonly hash?: typeof hashPassword; readonly isChecked?: boolean } = {},
): PasswordHasher {
  const policy = parsePasswordPolicy(isChecked ? realm.passwordPolicy : '')
  return createPasswordHasher({ policy, blacklists: passwordBlacklists, owner, now, hash })
}

/** Returns a credential in the form for a directory, which hashes it itself. */
const toPlainPassword: typeof hashPassword = async (password) => ({ type: PASSWORD, value: password })

/**
 * Returns a function that checks and hashes new passwords of a user, also against earlier ones. Passwords for a directory remain in plain
 * text, and are checked if the directory requests it. Three statements at most.
 */
export async function createUserPasswordHasher(context: Context, live: LiveObject): Promise<PasswordHasher> {
  const { id, key, representation } = live
  const store = await findPasswordStore(context, live)
  const owner = { username: key[0]!, email: readText(representation.email) }
  if (store)
    return createRealmPasswordHasher(context, owner, { hash: toPlainPassword, isChecked: store.validatesPasswords })
  return createRealmPasswordHasher(context, { ...owner, passwords: await listPasswords(context, id) })
}

/** Lists the current and earlier passwords of a user. One statement. */
async function listPasswords({ tx, realm, vault }: Context, user: string): Promise<StoredPassword[]> {
  const credentials = await selectCredentials(tx, realm.number, [user])
  return credentials
    .filter(({ type }) => type === PASSWORD || type === PASSWORD_HISTORY)
    .map(({ type, createdAt, body: { secretData, credentialData } }) => ({
      isHistory: type === PASSWORD_HISTORY,
      createdAt,
      secretData: vault.open(String(secretData)),
      credentialData: String(credentialData),
    }))
}

/**
 * Converts a declared credential that needs no hashing to the form in which it is stored. Throws invalid where it is
 * incomplete.
 */
export function toStoredCredential(declared: Representation): Representation {
  const { hashedSaltedValue, secretData, credentialData, type = PASSWORD } = declared
  if (hashedSaltedValue != null) return { ...getCommonFields(declared), ...convertLegacyFields(declared) }
  if (secretData == null || credentialData == null) {
    throw failure('invalid', `A credential of type ${type} needs a value, or secretData and credentialData`, {
      field: 'credentials',
    })
  }
  return {
    ...getCommonFields(declared),
    type: type!,
    secretData: checkJson(secretData),
    credentialData: checkJson(credentialData),
  }
}

/** Returns the required actions that follow from credentials: a temporary password must be replaced. */
export function getRequiredActions(credentials: Json | undefined): string[] {
  return readObjects(credentials).some(({ temporary }) => temporary === true) ? [UPDATE_PASSWORD] : []
}

const CREDENTIAL = { title: 'credential', conflict: { create: 'Another credential has the same id' } }

/**
 * Writes credentials of users. They replace existing ones of the same types, except for earlier passwords that the policy
 * forbids to choose again. Four statements.
 */
export async function writeCredentials(
  { tx, realm, now, vault }: WriteContext,
  users: readonly { readonly id: string; readonly credentials: Json | undefined; readonly isNew: boolean }[],
): Promise<void> {
  for (const { credentials } of users) requireDistinctLabels(readObjects(credentials))
  requireHashes(users.flatMap(({ credentials }) => readObjects(credentials)))
  const rows = users.flatMap(({ id, credentials }) =>
    readObjects(credentials).map(
      ({ id: credentialId, type, priority, createdDate, secretData, credentialData, userLabel }, at) => ({
        id: readText(credentialId) || randomUUID(),
        user_account: id,
        type: String(type),
        position: Number(priority ?? (at + 1) * 10),
        created_at: new Date(createdDate === undefined ? now : Number(createdDate)).toISOString(),
        body: {
          secretData: vault.seal(String(secretData)),
          credentialData: String(credentialData),
          ...(userLabel !== undefined && { userLabel }),
        },
      }),
    ),
  )
  const existingUsers = new Set(users.filter(({ isNew }) => !isNew).map(({ id }) => id))
  const replacing = rows.filter((row) => existingUsers.has(row.user_account))
  const withNewPassword = replacing.filter(({ type }) => type === PASSWORD).map((row) => row.user_account)
  const { count, milliseconds } = getPasswordHistory(parsePasswordPolicy(realm.passwordPolicy))
  if (withNewPassword.length && (count || milliseconds)) await archivePasswords(tx, realm.number, withNewPassword)
  if (replacing.length) await deleteCredentials(tx, realm.number, replacing)
  if (withNewPassword.length) {
    const since = new Date(now.getTime() - milliseconds)
    await deleteOldPasswords(tx, realm.number, { users: withNewPassword, count, since })
  }
  if (rows.length) await withConflictErrors(CREDENTIAL, 'create', () => insertCredentials(tx, realm.number, rows))
}

/** Throws conflict for a password in plain text, which was meant for a directory that no longer takes it. */
function requireHashes(credentials: readonly Representation[]): void {
  if (credentials.some(({ secretData }) => typeof secretData !== 'string'))
    throw failure('conflict', 'The user federation provider was changed meanwhile. Try again')
}

/** Returns the stored credentials by id of the user, with secrets in plain text, for an export with secrets. One statement. */
export async function getCredentialsByUser(
  { tx, realm, vault }: Context,
  users: readonly LiveObject[],
): Promise<ReadonlyMap<string, Representation[]>> {
  const ids = users.map(({ id }) => id)
  const rows = ids.length ? await selectCredentials(tx, realm.number, ids) : []
  const credentials = rows.map(({ user, id, type, createdAt, position, body: { secretData, ...body } }) => ({
    user,
    credential: {
      id,
      type,
      createdDate: createdAt.getTime(),
      priority: position,
      ...body,
      secretData: vault.open(String(secretData)),
    },
  }))
  return new Map(
    [...Map.groupBy(credentials, ({ user }) => user)].map(([user, ofUser]) => [
      user,
      ofUser.map(({ credential }) => credential),
    ]),
  )
}

/**
 * Adds priorities to new credentials of a user: one takes the id and priority of the existing one of its type, others come
 * last. One statement.
 */
export async function assignPriorities(
  context: Context,
  user: string,
  prepared: readonly Representation[],
): Promise<Representation[]> {
  const existing = await selectCredentials(context.tx, context.realm.number, [user])
  const last = Math.max(0, ...existing.map(({ position }) => position))
  return prepared.map((credential, at) => {
    const replaced = existing.find(({ type }) => type === credential.type)
    const priority = replaced?.position ?? last + (at + 1) * 10
    return { priority, ...(replaced && { id: replaced.id }), ...credential }
  })
}

/** Throws conflict if two credentials of a user and type have the same label, except for case and spaces around it. */
export function requireDistinctLabels(credentials: readonly Representation[]): void {
  const labels = credentials.flatMap(({ type, userLabel }) => {
    const label = normalizeLabel(String(userLabel ?? ''))
    return label ? [`${type} ${label}`] : []
  })
  if (new Set(labels).size < labels.length)
    throw failure('conflict', 'Device already exists with the same name', { form: { error: 'conflict' } })
}

/** Returns a label as labels are compared. */
export function normalizeLabel(label: string): string {
  return label.trim().toLowerCase()
}

async function prepareCredential(declared: Representation, hash: PasswordHasher): Promise<Representation> {
  const { value, type = PASSWORD } = declared
  if (value == null) return toStoredCredential(declared)
  // Keycloak, before version 8: the value of a one-time code is its secret.
  if (ONE_TIME_CODES.includes(String(type))) return toStoredCredential({ ...declared, hashedSaltedValue: value })
  if (type !== PASSWORD)
    throw failure('invalid', `A credential of type ${type} cannot be created from a value`, { field: 'credentials' })
  return { ...getCommonFields(declared), ...(await hash(String(value))) }
}

/** Returns the fields that are the same in every form of a credential. */
function getCommonFields({ temporary, userLabel, id, createdDate, priority }: Representation): Representation {
  const fields = Object.entries({ temporary, userLabel, id, createdDate, priority })
  return Object.fromEntries(fields.flatMap(([name, value]) => (value == null ? [] : [[name, value]])))
}

/** Keycloak: the fields of credentials in exports before version 8. */
function convertLegacyFields(declared: Representation): Representation {
  const { type, hashedSaltedValue, salt, hashIterations, algorithm, digits, counter, period } = declared
  if (ONE_TIME_CODES.includes(String(type))) {
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

/** Returns a text that contains JSON. Throws invalid where it does not. */
function checkJson(text: Json): string {
  try {
    JSON.parse(String(text))
    return String(text)
  } catch {
    throw failure('invalid', 'secretData and credentialData of a credential must contain JSON', {
      field: 'credentials',
    })
  }
}
