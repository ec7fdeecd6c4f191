// A realm for tests of logins: with the user Ann and the client web.
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { APPLICATION, loginAddress } from './browser.ts'
import { testServer } from './server.ts'
import { testService } from './service.ts'

/** Creates the realm. Ann's password is `pw`. */
export async function createLoginRealm(settings: object = {}, { client = {}, ann = {} } = {}) {
  const { call, create, createRealm } = await testServer()
  const { service } = await testService()
  const path = await createRealm(settings)
  const name = path.split('/').at(-1)!
  await create(`${path}/clients`, { clientId: 'web', publicClient: true, redirectUris: [APPLICATION], ...client })
  const representation = {
    username: 'ann',
    enabled: true,
    email: 'ann@example.org',
    firstName: 'Ann',
    lastName: 'Example',
    credentials: [await hashPassword('pw')],
    ...ann,
  }
  const [user] = await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  return {
    path,
    name,
    user: user!.id,
    logInAddress: (parameters?: Record<string, string>) => loginAddress(name, parameters),
    redeem: (code: string, verifier: string) =>
      call('POST', `/realms/${name}/protocol/openid-connect/token`, {
        token: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: 'web',
          redirect_uri: APPLICATION,
          code,
          code_verifier: verifier,
        }).toString(),
      }),
  }
}
