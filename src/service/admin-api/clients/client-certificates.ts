// What REST does with the keys and certificates that stand in attributes of a client, under a prefix that the address names.

import { kinds } from '../../../kinds/index.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { type KeyFile, readKeyFile } from '../../../lib/key-file.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import { demand, may } from '../../permissions/administrators.ts'
import { demandClients } from '../../permissions/privilege.ts'
import { getObject } from '../common/resource.ts'
import { CLIENT_NOT_FOUND, refuseAdministration } from './clients.ts'

/** Keycloak: CertificateRepresentation. */
export interface CertificateInfo {
  readonly privateKey?: string
  readonly publicKey?: string
  readonly certificate?: string
  readonly kid?: string
  /** The key set that the key stands in. */
  readonly jwks?: string
}

/** Keycloak: the prefix of what a client signs its assertions with; a key set of it has attributes of its own. */
const SIGNING = 'jwt.credential'
const KEY_SET = 'JSON Web Key Set'
/** The attributes by what they hold. */
const NAMES = {
  privateKey: 'private.key',
  publicKey: 'public.key',
  certificate: 'certificate',
  kid: 'kid',
} as const

const find = (context: Context, id: string) => getObject(context, 'client', id, CLIENT_NOT_FOUND)

/** What is kept under the prefix; private keys masked for who may only view clients. */
export async function getCertificate(context: Context, id: string, prefix: string): Promise<CertificateInfo> {
  demand(context, 'view-clients')
  const { representation } = await find(context, id)
  await demandClients(context, [id])
  const manages = may(context, 'manage-clients')
  const attributes = (representation.attributes ?? {}) as Record<string, string>
  const set = attributes['use.jwks.string'] === 'true' ? attributes['jwks.string'] : undefined
  if (prefix === SIGNING && set !== undefined) return readKeyFile(KEY_SET, set) ?? { jwks: set }
  const kept = Object.entries(NAMES).flatMap(([member, name]) => {
    const value = attributes[`${prefix}.${name}`]
    const isHidden = member === 'privateKey' && !manages
    return value === undefined ? [] : [[member, isHidden ? MASK : context.vault.open(value)]]
  })
  return Object.fromEntries(kept) as CertificateInfo
}

/** The client that is to have keys under the prefix, before these are made or read. Throws forbidden, not_found. */
export async function reachCertificate(context: Context, id: string): Promise<LiveObject> {
  demand(context, 'manage-clients')
  const live = await find(context, id)
  refuseAdministration(context, live)
  return live
}

/** Throws invalid unless private keys under the prefix are kept as secrets. */
export function demandSecret(prefix: string): void {
  const secrets = kinds.client.fields.attributes!.secret as readonly string[]
  if (secrets.includes(`${prefix}.${NAMES.privateKey}`)) return
  throw failure('invalid', `Regent keeps no private keys of clients under ${prefix}`)
}

/** What a file says of a key, as it is kept and shown; undefined where it cannot be read. */
export function readUpload(format: string, text: string): CertificateInfo | undefined {
  const read: KeyFile | undefined = readKeyFile(format, text)
  if (!read) return undefined
  // A certificate holds its key.
  return read.certificate ? { certificate: read.certificate } : read
}

/** Keeps it under the prefix, in place of what is there. */
export async function keepCertificate(
  context: WriteContext,
  id: string,
  prefix: string,
  info: CertificateInfo,
): Promise<CertificateInfo> {
  const live = await reachCertificate(context, id)
  const isSet = prefix === SIGNING && info.jwks !== undefined
  const set: Record<string, Json> = {}
  for (const [member, name] of Object.entries(NAMES))
    set[`attributes.${prefix}.${name}`] = (isSet ? undefined : info[member as keyof typeof NAMES]) ?? null
  if (prefix === SIGNING) {
    set['attributes.jwks.string'] = isSet ? info.jwks! : null
    set['attributes.use.jwks.string'] = isSet ? 'true' : null
  }
  await writers.client.update(context, [{ live, set }])
  const shown = info.privateKey === undefined ? info : { ...info, privateKey: MASK }
  describeEvent(context, { representation: shown as Representation })
  return info
}
