// The miniature on the running server: its ids, and tokens of those whom administrators can act as.

import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { type TestResponse, testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { type Beginning, begin } from './beginning.ts'
import { accountOf, documentOf, type Kind, PASSWORD, SETTINGS, sourceOf, wishedFor } from './document.ts'
import { DEFAULT, LOGIN, MANAGEMENT, type Principal } from './state.ts'

/** The realm, whose objects go by the names of the miniature. */
export interface World {
  /** The name of the realm. */
  readonly realm: string
  /** The id of an object. */
  id(kind: Kind, name: string): string
  /** Knows the id of a new object from now on. */
  know(kind: Kind, name: string, id: string): void
  /** Knows the new secret of a client. */
  knowSecret(client: string, secret: string): void
  /** Asks as a principal, or as one who has all power. */
  ask(by: Principal | 'everything', method: string, path: string, body?: unknown): Promise<TestResponse>
  /** Uses no token of the client that was issued before. */
  renewTokens(client: string): void
  /** A new token. */
  token(principal: Principal): Promise<string>
}

/** Makes the realm. */
export async function worldOf(beginning: Beginning): Promise<World> {
  const { call } = await testServer()
  const realm = newName('world')
  const path = `/admin/realms/${realm}`
  const answer = await call('POST', '/admin/realms', { body: documentOf(realm, begin(beginning)) })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  const ids = new Map<string, string>()
  const secrets = new Map<string, string>()
  const tokens = new Map<string, string>()
  const world: World = {
    realm,
    id: (kind: Kind, name: string) => ids.get(`${kind} ${name}`) ?? wishedFor(realm)(kind, name),
    know: (kind, name, id) => void ids.set(`${kind} ${name}`, id),
    renewTokens(client: string) {
      for (const key of [...tokens.keys()]) if (key.endsWith(` by ${client}`)) tokens.delete(key)
    },
    knowSecret: (client, secret) => void secrets.set(client, secret),
    async token({ user, client }: Principal): Promise<string> {
      const { status, body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
        token: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          client_id: client,
          ...(client !== LOGIN && { client_secret: secrets.get(client) ?? client }),
          ...(user === accountOf(client)
            ? { grant_type: 'client_credentials' }
            : { grant_type: 'password', username: user, password: PASSWORD }),
        }).toString(),
      })
      if (status !== 200) throw new Error(`${user} by ${client}: ${status} ${JSON.stringify(body)}`)
      return body.access_token
    },
    async ask(by: Principal | 'everything', method: string, address: string, body?: unknown): Promise<TestResponse> {
      const ask = (token?: string) =>
        call(method, address.startsWith('/') ? address : address ? `${path}/${address}` : path, {
          ...(token && { token }),
          body,
        })
      if (by === 'everything') return ask()
      const key = `${by.user} by ${by.client}`
      const answer = tokens.has(key) ? await ask(tokens.get(key)) : undefined
      // Who changes a password ends the sessions that stand on it.
      if (answer && answer.status !== 401) return answer
      tokens.set(key, await world.token(by))
      return ask(tokens.get(key))
    },
  }
  const found = async (address: string) => (await world.ask('everything', 'GET', address)).body
  for (const { clientId, id } of await found('clients')) ids.set(`client ${clientId}`, id)
  for (const { name, id } of await found(`clients/${world.id('client', MANAGEMENT)}/roles`))
    ids.set(`role ${MANAGEMENT}/${name}`, id)
  ids.set(`role ${DEFAULT}`, (await found('')).defaultRole.id)
  for (const [name, { account }] of begin(beginning).users)
    if (account !== undefined)
      ids.set(`user ${name}`, (await found(`clients/${world.id('client', account)}/service-account-user`)).id)
  // Nobody deletes a role that administers over REST, but a realm may lack one.
  const { service } = await testService()
  await service.write(SYSTEM, realm, async (context) => {
    const title = { keys: [['client', MANAGEMENT, beginning.title]] }
    await writers.role.delete(context, await writers.role.list(context, title))
  })
  const [withConfig] = await found(`authentication/flows/${SETTINGS.config}/executions`)
  const [withStep] = await found(`authentication/flows/${SETTINGS.step}/executions`)
  ids.set('setting config', withConfig.authenticationConfig).set('setting step', withStep.id)
  const flows: { alias: string; id: string }[] = await found('authentication/flows')
  ids.set('setting flow', flows.find(({ alias }) => alias === SETTINGS.flow)!.id)
  const source = sourceOf(realm, 'first', begin(beginning).declared)
  const applied = await world.ask('everything', 'POST', '/regent/v1/apply', source)
  if (applied.status !== 200) throw new Error(JSON.stringify(applied.body))
  return world
}
