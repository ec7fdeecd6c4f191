// What people let clients learn.
import type { Json } from '../kinds/fields.ts'
import type { Key, Representation } from '../kinds/kind.ts'
import { deleteConsents, insertConsents, selectConsents } from '../store/consents.ts'
import type { Context, WriteContext } from './context.ts'
import type { LiveObject } from './live.ts'
import { idsOf } from './references.ts'

/** The consents of users, as in their representation. One statement. */
export async function consentsOf(context: Context, users: readonly LiveObject[]): Promise<Map<string, Json>> {
  if (!users.length) return new Map()
  const ids = users.map(({ id }) => id)
  const found = await selectConsents(context.tx, context.realm.number, ids)
  const shown = found.map(({ user, client, scopes, body }) => ({
    user,
    consent: { clientId: client.name, grantedClientScopes: scopes.map(({ name }) => name), ...body },
  }))
  return new Map(
    [...Map.groupBy(shown, ({ user }) => user)].map(([user, own]) => [user, own.map(({ consent }) => consent)]),
  )
}

/** Makes the consents of users what is stated. Throws invalid where a client or client scope does not exist. */
export async function writeConsents(
  context: WriteContext,
  users: readonly { readonly id: string; readonly consents: Json | undefined }[],
): Promise<void> {
  if (!users.length) return
  const { tx, realm, now } = context
  await deleteConsents(
    tx,
    realm.number,
    users.map(({ id }) => id),
  )
  const stated = users.flatMap(({ id, consents }) =>
    ((consents ?? []) as Representation[]).map((consent) => ({ user: id, consent })),
  )
  if (!stated.length) return
  const scopesOf = (consent: Representation) => (consent.grantedClientScopes ?? []) as string[]
  const clients = await idsOf(context, 'client', unique(stated.map(({ consent }) => String(consent.clientId))))
  const scopes = await idsOf(context, 'clientScope', unique(stated.flatMap(({ consent }) => scopesOf(consent))))
  const at = now.getTime()
  await insertConsents(
    tx,
    realm.number,
    stated.map(({ user, consent }) => ({
      user,
      client: clients.get(JSON.stringify([consent.clientId]))!,
      scopes: scopesOf(consent).map((name) => scopes.get(JSON.stringify([name]))!),
      body: { createdDate: consent.createdDate ?? at, lastUpdatedDate: consent.lastUpdatedDate ?? at },
    })),
  )
}

function unique(names: readonly string[]): Key[] {
  return [...new Set(names)].map((name) => [name])
}
