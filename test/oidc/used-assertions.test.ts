// A client assertion authenticates once, on every server.
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { openProtectedServers } from '../support/protected-realm.ts'

const { createRealm } = await openProtectedServers()

test('a client assertion that one server has accepted is refused by another one', async () => {
  const realm = await createRealm({}, { client: { clientAuthenticatorType: 'client-secret-jwt' } })
  const assertion = await new SignJWT({ jti: 'one', iss: 'server', sub: 'server', aud: realm.issuer })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('30s')
    .sign(Buffer.from('secret'))
  const form = {
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }
  expect((await realm.post('token', form)).status).toBe(200)
  for (const isOther of [true, false]) {
    const { body } = await realm.post('token', form, { isOther })
    expect(body.error_description).toBe('Token reuse detected')
  }
})
