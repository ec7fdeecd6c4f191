// The circumstances of a request for access, as policies see them. Keycloak: DefaultEvaluationContext.
import type { Context } from '../../service/context/context.ts'
import { type Attributes, CLIENT_ID, DATE_TIME } from '../../service/policy-evaluation/attributes.ts'

/** Returns the attributes of a request by a client, given by its client id, from a network address. */
export function listContextAttributes(
  { realm, now }: Pick<Context, 'realm' | 'now'>,
  client: string,
  address: string | undefined,
): Attributes {
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
