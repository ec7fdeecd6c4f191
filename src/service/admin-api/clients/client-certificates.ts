// The REST operations on the keys and certificates in the attributes of a client, below a prefix that the URL names.

import { client } from '../../../kinds/client.ts'
import { type Json, readTextMap } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { readKeyFile } from '../../../lib/key-file.ts'
import { hasObjectPermission, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requireControlOfClients } from '../../permissions/privilege-escalation.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'

/** A certificate with its keys. Keycloak: CertificateRepresentation. */
export interface CertificateInfo {
  readonly privateKey?: string
  readonly publicKey?: string
  readonly certificate?: string
  readonly kid?: string
  /** The key set that contains the key, as JSON. */
  readonly jwks?: string
}

/** Keycloak: the prefix of the key that a client signs its assertions with. A key set of it is stored in two more attributes. */
const SIGNING = 'jwt.credential'
const KEY_SET = 'JSON Web Key Set'
/** The last part of the name of the attribute that holds each member. */
const ATTRIBUTES = {
  privateKey: 'private.key',
  publicKey: 'public.key',
  certificate: 'certificate',
  kid: 'kid',
} as const
const MEMBERS = ['privateKey', 'publicKey', 'certificate', 'kid'] as const

/** Returns the key and certificate below the prefix; the private key is masked for callers who may only view clients. */
export async function getCertificate(context: Context, id: string, prefix: string): Promise<CertificateInfo> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id }] })
  const { representation } = await getClient(context, id)
  await requireControlOfClients(context, [id])
  const canManage = await hasObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  const attributes = readTextMap(representation.attributes)
  const keySet = attributes['use.jwks.string'] === 'true' ? attributes['jwks.string'] : undefined
  if (prefix === SIGNING && keySet !== undefined) return readKeyFile(KEY_SET, keySet) ?? { jwks: keySet }
  const members = Object.entries(ATTRIBUTES).flatMap(([member, name]) => {
    const value = attributes[`${prefix}.${name}`]
    const isHidden = member === 'privateKey' && !canManage
    return value === undefined ? [] : [[member, isHidden ? MASK : context.vault.open(value)]]
  })
  return Object.fromEntries(members)
}

/** Returns the client if the caller may manage it. Throws forbidden, not_found. */
export async function getManageableClient(context: Context, id: string): Promise<LiveObject> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  const live = await getClient(context, id)
  refuseAdminClient(context, live)
  return live
}

/** Throws invalid unless the private key below the prefix is stored encrypted. */
export function requireSecretAttribute(prefix: string): void {
  const { secret } = client.fields.attributes
  if (Array.isArray(secret) && secret.includes(`${prefix}.${ATTRIBUTES.privateKey}`)) return
  throw failure('invalid', `Regent does not store private keys of clients under ${prefix}`)
}

/** Returns the key or certificate in an uploaded file, or undefined if the file is not of that format. */
export function readKeyUpload(format: string, text: string): CertificateInfo | undefined {
  const keyFile = readKeyFile(format, text)
  // A certificate contains its public key.
  return keyFile?.certificate ? { certificate: keyFile.certificate } : keyFile
}

/** Replaces the key and certificate of a client below the prefix. */
export async function storeCertificate(
  context: WriteContext,
  { id, prefix }: { readonly id: string; readonly prefix: string },
  info: CertificateInfo,
): Promise<CertificateInfo> {
  const live = await getManageableClient(context, id)
  const isKeySet = prefix === SIGNING && info.jwks !== undefined
  const set: Record<string, Json> = {}
  for (const member of MEMBERS)
    set[`attributes.${prefix}.${ATTRIBUTES[member]}`] = (isKeySet ? undefined : info[member]) ?? null
  if (prefix === SIGNING) {
    set['attributes.jwks.string'] = isKeySet ? info.jwks! : null
    set['attributes.use.jwks.string'] = isKeySet ? 'true' : null
  }
  await writers.client.update(context, [{ live, set }])
  const representation = { ...info, ...(info.privateKey !== undefined && { privateKey: MASK }) }
  describeAdminEvent(context, { representation })
  return info
}
