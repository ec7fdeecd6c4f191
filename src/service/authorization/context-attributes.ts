// The circumstances of a request, which policies look at.
import type { Context } from '../context/context.ts'
import { type Attributes, CLIENT_ID, DATE_TIME } from '../policy-evaluation/attributes.ts'

/** Returns the time, the realm, the client ID and the network address of a request as attributes. Keycloak: the same names. */
export function listContextAttributes({ actor, realm, now }: Context, client: string): Attributes {
  const { address } = actor
  return new Map([
    [DATE_TIME, [toLocalTime(now)]],
    ['kc.realm.name', [realm.name]],
    [CLIENT_ID, [client]],
    ...(address === undefined ? [] : (['ip_address', 'host'] as const).map(toNetworkAttribute(address))),
  ])
}

const toNetworkAttribute =
  (address: string) =>
  (name: string): [string, string[]] => [`kc.client.network.${name}`, [address]]

/** Returns a time in the time zone of the server, such as 2026-11-28 09:30:00. */
function toLocalTime(time: Date): string {
  const offset = time.getTimezoneOffset() * 60_000
  return new Date(time.getTime() - offset).toISOString().slice(0, 19).replace('T', ' ')
}
