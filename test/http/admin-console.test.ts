// Keycloak's admin console, served from a folder. A made-up console takes the place of Keycloak's.
import { expect, onTestFinished, test } from 'vitest'
import { openConsoleTheme } from '../../src/http/server/console-theme.ts'
import { createServer } from '../../src/http/server.ts'
import { loginAddress } from '../support/browser.ts'
import { consoleJars, createConsoleFolder, unpackedConsole } from '../support/console-theme.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { service } = await testService()
const { call, createRealm } = await testServer()

async function startServer(files: Readonly<Record<string, string | Uint8Array>> = unpackedConsole()) {
  const theme = await openConsoleTheme(await createConsoleFolder(files))
  const app = await createServer(service, { console: true, adminConsole: theme })
  onTestFinished(() => app.close())
  const get = (url: string, host = 'localhost:8080') => app.inject({ method: 'GET', url, headers: { host } })
  return { app, get, resources: `/resources/${theme.resourceVersion}` }
}

test('the page is the template with the values of the realm and the headers of its pages', async () => {
  const realm = (await createRealm({ attributes: { darkMode: 'false' } })).split('/').at(-1)!
  const { get, resources } = await startServer()
  const { statusCode, headers, body } = await get(`/admin/${realm}/console/`)
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-security-policy': "frame-src 'self'; frame-ancestors 'self'; object-src 'none';",
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
  })
  expect(body).toContain(`<link href="${resources}/admin/keycloak.v2/assets/main-1.css">`)
  expect(body).toContain(`<script src="${resources}/admin/keycloak.v2/assets/main-1.js">`)
  expect(body).toContain('<title>Console</title>')
  expect(body).not.toMatch(/name="dark"|shim\.js/)
  const [, environment] = /<script id="environment">([\s\S]*?)<\/script>/.exec(body)!
  expect(JSON.parse(environment!)).toEqual({
    realm,
    darkMode: false,
    common: `${resources}/common/keycloak`,
    url: 'http://localhost:8080',
    consoleBaseUrl: `/admin/${realm}/console/`,
    clientId: 'security-admin-console',
  })
  expect((await get('/admin/master/console/')).body).toContain('<meta name="dark">')
  expect((await get('/admin/master/console/', 'realms.example.com')).body).toContain('shim.js')
})

test('/admin and the address without a slash lead to the page, and an unknown realm returns 404', async () => {
  const { get } = await startServer()
  expect((await get('/admin')).headers.location).toBe('http://localhost:8080/admin/master/console/')
  expect((await get('/admin/master/console')).headers.location).toBe('http://localhost:8080/admin/master/console/')
  expect((await get('/admin/nowhere/console/')).statusCode).toBe(404)
  expect((await get('/console/master/')).statusCode).toBe(200)
})

test('files of the console have their type and can be cached, and others are not served', async () => {
  const { get, resources } = await startServer()
  const script = await get(`${resources}/admin/keycloak.v2/assets/main-1.js`)
  expect(script).toMatchObject({ statusCode: 200, body: 'start()' })
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  expect((await get(`${resources}/common/keycloak/vendor/react/react.production.min.js`)).body).toBe('react()')
  for (const path of [
    '/resources/old/admin/keycloak.v2/assets/main-1.js',
    `${resources}/admin/keycloak.v2/assets/main-1.js.map`,
    `${resources}/admin/keycloak.v2/assets/missing.js`,
    `${resources}/admin/keycloak.v2/..%2findex.ftl`,
    `${resources}/common/keycloak/vendor/other/other.js`,
  ])
    expect((await get(path)).statusCode, path).toBe(404)
})

test('texts of the realm replace those of the console, and English ones complete a language', async () => {
  const path = await createRealm({
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
  })
  await call('POST', `${path}/localization/de`, { body: { save: 'Sichern' } })
  const { get } = await startServer()
  const list = async (locale: string) => (await get(`/resources/${path.split('/').at(-1)}/admin/${locale}`)).json()
  expect(
    Object.fromEntries((await list('de')).map((text: { key: string; value: string }) => [text.key, text.value])),
  ).toEqual({
    cancel: 'Abbrechen',
    save: 'Sichern',
    more: 'More',
    invalidPasswordMessage: 'Invalid password.',
    locale_de: 'Deutsch',
    locale_en: 'Englisch (English)',
  })
  expect(await list('de?source=true')).toContainEqual({ key: 'save', value: 'Sichern', source: 'REALM' })
  expect(await list('de?source=true')).toContainEqual({ key: 'cancel', value: 'Abbrechen', source: 'THEME' })
  expect(await list('zh-CN')).toContainEqual({ key: 'cancel', value: '\u53d6\u6d88' })
})

test('the jars of a distribution give the same console as their unpacked files', async () => {
  const [packed, unpacked] = await Promise.all([startServer(consoleJars()), startServer()])
  const page = async ({ get, resources }: typeof packed) =>
    (await get('/admin/master/console/')).body.replaceAll(resources, '')
  expect(await page(packed)).toBe(await page(unpacked))
})

test('another version is refused with the tested versions, and a folder without the jars with what is missing', async () => {
  const open = async (files: Readonly<Record<string, string | Uint8Array>>) =>
    openConsoleTheme(await createConsoleFolder(files))
  await expect(open(unpackedConsole('25.0.6'))).rejects.toThrow(
    /console of Keycloak 25\.0\.6\..* tested with .*26\.7\.3/,
  )
  await expect(open(consoleJars('27.0.0'))).rejects.toThrow(/console of Keycloak 27\.0\.0\./)
  await expect(open({})).rejects.toThrow('keycloak-admin-ui-<version>.jar is missing')
  await expect(open({ ...consoleJars('26.7.3'), ...consoleJars('26.6.0') })).rejects.toThrow('several versions')
})

test('a log-in returns to the address in the fragment for the admin console, and is refused for other clients', async () => {
  const { get } = await startServer()
  const logIn = (client_id: string, redirect_uri: string) =>
    get(loginAddress('master', { client_id, redirect_uri, prompt: 'none' }).address)
  const page = 'http://localhost:8080/admin/master/console/'
  const { headers } = await logIn('security-admin-console', `${page}#/master/clients`)
  expect(headers.location).toMatch(
    /^http:\/\/localhost:8080\/admin\/master\/console\/\?error=login_required.*#\/master\/clients$/,
  )
  expect((await logIn('security-admin-console', 'http://localhost:8080/other#/x')).statusCode).toBe(400)
  expect((await logIn('account-console', 'http://localhost:8080/realms/master/account/#/x')).statusCode).toBe(400)
})
