// The media types of responses, and those that callers accept.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, createRealm } = await testServer()

const ACCEPTED = [
  '*/*',
  'application/*',
  'application/json',
  'text/html, application/json;q=0.5',
  'text/html,*/*;q=0.1',
  '',
]
const REFUSED = ['application/xml', 'text/html', 'application/problem+json', 'json']

test('a read returns 406 exactly if the caller does not accept its media type, and a write is not affected', async () => {
  const realm = await createRealm()
  const paths = [realm, `${realm}/users/count`, `${realm}/roles`, '/admin/serverinfo', '/admin/realms']
  const get = async (path: string, accept: string) => (await call('GET', path, { headers: { accept } })).status
  for (const path of paths) {
    for (const accept of ACCEPTED) expect(await get(path, accept), `${path} ${accept}`).toBe(200)
    for (const accept of REFUSED) expect(await get(path, accept), `${path} ${accept}`).toBe(406)
  }
  const refusal = await call('GET', realm, { headers: { accept: 'text/html' } })
  expect(refusal.body).toEqual({ error: 'HTTP 406 Not Acceptable' })
  const headers = { accept: 'application/xml' }
  expect((await call('PUT', realm, { body: { displayName: 'Shop' }, headers })).status).toBe(204)
  expect((await call('GET', `${realm}/users/nobody`, { headers })).status).toBe(404)
})

test('a text is returned to callers who accept texts', async () => {
  const text = `${await createRealm()}/localization/de/greeting`
  await call('PUT', text, { body: 'Hallo', headers: { 'content-type': 'text/plain' } })
  const get = (accept: string) => call('GET', text, { headers: { accept } })
  expect(await get('text/plain')).toMatchObject({ status: 200, body: 'Hallo' })
  expect((await get('application/json')).status).toBe(406)
})
