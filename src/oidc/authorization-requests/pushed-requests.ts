// Stored authorization requests, which clients push before a login. RFC 9126.
import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { SYSTEM } from '../../service/context/service.ts'
import { consumeSingleUse, createSingleUse } from '../../service/context/single-use.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall } from '../client-call.ts'

/** The beginning of the address of a pushed request. RFC 9126, section 2.2. */
const PREFIX = 'urn:ietf:params:oauth:request_uri:'

/** Keycloak: the lifespan in seconds, unless the realm attribute `parRequestUriLifespan` has another. */
const LIFESPAN = 60

const pushedRequest = z.object({ query: z.string() })

/** The address of a pushed request, as in the response to the client. */
export interface PushedRequest {
  readonly request_uri: string
  /** In seconds. */
  readonly expires_in: number
}

/** Whether an address is that of a pushed request. */
export const isPushedRequest = (address: string): boolean => address.startsWith(PREFIX)

/** Stores the parameters of an authorization request of a client. One statement. */
export async function storePushedRequest(
  { service, realm }: RealmCall,
  client: LiveObject,
  query: URLSearchParams,
): Promise<PushedRequest> {
  const reference = randomBytes(32).toString('base64url')
  const lifespan = Number(realm.settings.attributes?.parRequestUriLifespan) || LIFESPAN
  const expiresAt = new Date(realm.now.getTime() + lifespan * 1000)
  const single = { key: getKey(client, reference), expiresAt, body: { query: query.toString() } }
  await service.writeRuntime(SYSTEM, realm, (context) => createSingleUse(context, single))
  return { request_uri: PREFIX + reference, expires_in: lifespan }
}

/** Returns the parameters of a request that the client has pushed, once; undefined if it is used, expired or of another client. One statement. */
export async function takePushedRequest(
  { service, realm }: RealmCall,
  client: LiveObject,
  address: string,
): Promise<URLSearchParams | undefined> {
  const key = getKey(client, address.slice(PREFIX.length))
  const used = await service.writeRuntime(SYSTEM, realm, (context) => consumeSingleUse(context, key))
  return used?.isFirst ? new URLSearchParams(pushedRequest.parse(used.body).query) : undefined
}

/** Returns the key of a request: only a digest is stored, so that a leaked database reveals no addresses. */
const getKey = (client: LiveObject, reference: string) =>
  `pushed ${client.id} ${createHash('sha256').update(reference).digest('base64url')}`
