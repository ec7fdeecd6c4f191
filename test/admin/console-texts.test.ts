// The texts of a realm for the admin console, which needs no token.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, createRealm } = await testServer()

test('texts of the language, its base, the default locale and English complete each other, without a token', async () => {
  const path = await createRealm({
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'de',
  })
  for (const locale of ['en', 'de', 'fr', 'de-CH'])
    await call('POST', `${path}/localization/${locale}`, { body: { cancel: `c-${locale}`, [`only-${locale}`]: '{0}' } })
  const realm = path.split('/').at(-1)
  const list = async (locale: string): Promise<Record<string, string>> => {
    const { status, body } = await call('GET', `/resources/${realm}/admin/${locale}`, { token: null })
    expect(status).toBe(200)
    return Object.fromEntries((body as { key: string; value: string }[]).map(({ key, value }) => [key, value]))
  }
  expect(await list('en')).toEqual({ cancel: 'c-en', 'only-en': '{0}' })
  expect(await list('en-US')).toEqual(await list('en'))
  expect(await list('de')).toEqual({ cancel: 'c-de', 'only-de': '{0}', 'only-en': '{0}' })
  expect(await list('xx')).toEqual(await list('de'))
  expect(await list('de_CH')).toEqual(await list('de'))
  expect(await list('fr')).toEqual({ cancel: 'c-fr', 'only-fr': '{0}', 'only-de': '{0}', 'only-en': '{0}' })
  expect(await list('de-CH')).toMatchObject({ cancel: 'c-de-CH', 'only-de': '{0}' })
})

test('a realm without texts has none for the console, and an unknown realm returns 404', async () => {
  const realm = (await createRealm()).split('/').at(-1)
  expect((await call('GET', `/resources/${realm}/admin/en`, { token: null })).body).toEqual([])
  expect((await call('GET', '/resources/nowhere/admin/en', { token: null })).status).toBe(404)
})
