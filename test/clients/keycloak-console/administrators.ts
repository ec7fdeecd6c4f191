// Administrators with fewer permissions in Keycloak's admin console: what each sees on its pages.
import type { Browser } from 'playwright-core'
import { type ConsoleDriver, openKeycloakConsole } from './driver.ts'

/** A page of the console as an administrator sees it. */
export interface SeenPage {
  readonly page: string
  /** `GET /admin/realms/{realm}/clients 200`, sorted, without repetitions. */
  readonly requests: readonly string[]
  /** The tabs, the rows of tables by their first cells, and the buttons and fields that are enabled. */
  readonly content: Readonly<Record<string, readonly string[]>>
}

/** The console as an administrator sees it: the menu, and its pages. */
export interface SeenConsole {
  readonly username: string
  readonly menu: readonly string[]
  readonly pages: readonly SeenPage[]
}

const PASSWORD = 'pw'

const user = (username: string, roles: readonly string[] = []) => ({
  username,
  email: `${username}@example.org`,
  emailVerified: true,
  firstName: username,
  lastName: 'Example',
  enabled: true,
  credentials: [{ type: 'password', value: PASSWORD }],
  clientRoles: { 'realm-management': roles },
})

const VIEWER_ROLES = ['view-realm', 'view-users', 'view-clients', 'view-events', 'view-identity-providers']

/** The administrators. `limited` has no role that manages or views: permissions of version 2 let it view and manage some objects. */
const administrators = ['viewer', 'limited'] as const

const content = (realm: string) => ({
  realm,
  enabled: true,
  adminPermissionsEnabled: true,
  adminEventsEnabled: true,
  eventsEnabled: true,
  users: [
    user('viewer', VIEWER_ROLES),
    user('limited', ['query-users', 'query-groups', 'query-clients']),
    user('ada'),
    user('bob'),
  ],
  groups: [{ name: 'staff' }, { name: 'visitors' }],
  clients: [{ clientId: 'shop' }, { clientId: 'bank' }],
  roles: { realm: [{ name: 'seller' }] },
})

/** Creates a realm with the administrators. */
export async function createAdministrators(url: string, realm: string): Promise<void> {
  const call = await createCaller(url)
  await call('DELETE', `/admin/realms/${realm}`)
  await call('POST', '/admin/realms', content(realm))
  const path = `/admin/realms/${realm}`
  const find = async (list: string, field: string, name: string): Promise<Record<string, string>> =>
    (await call('GET', `${path}/${list}`)).find((object: Record<string, string>) => object[field] === name)
  const client = await find('clients', 'clientId', 'admin-permissions')
  const authorization = `${path}/clients/${client.id}/authz/resource-server`
  const limited = await find('users', 'username', 'limited')
  await call('POST', `${authorization}/policy/user`, { name: 'limited administrators', users: [limited.id] })
  const permissions = [
    { resourceType: 'Users', scopes: ['view', 'manage'], resource: await find('users', 'username', 'ada') },
    { resourceType: 'Groups', scopes: ['view'], resource: await find('groups', 'name', 'staff') },
    { resourceType: 'Clients', scopes: ['view', 'manage'], resource: await find('clients', 'clientId', 'shop') },
  ]
  for (const { resourceType, scopes, resource } of permissions)
    await call('POST', `${authorization}/permission/scope`, {
      name: `limited to ${resourceType}`,
      resourceType,
      scopes,
      resources: [resource.id],
      policies: ['limited administrators'],
    })
}

/** Deletes the realm. */
export async function deleteAdministrators(url: string, realm: string): Promise<void> {
  const call = await createCaller(url)
  await call('DELETE', `/admin/realms/${realm}`)
}

/** Opens all pages of the menu, and the first object of the main lists, as each of the administrators. */
export async function seeAsAdministrators(browser: Browser, url: string, realm: string): Promise<SeenConsole[]> {
  const consoles: SeenConsole[] = []
  for (const username of administrators) {
    const console = await openKeycloakConsole(browser, { url, realm, username, password: PASSWORD })
    consoles.push(await seeConsole(console, realm, username))
    await console.close()
  }
  return consoles
}

const MENU = '#page-sidebar a.pf-v5-c-nav__link'

/** Objects to open from a list: the page of the list, and the text of the link. */
const objects: readonly (readonly [page: string, link: string])[] = [
  ['clients', 'shop'],
  ['users', 'ada'],
  ['groups', 'staff'],
  ['roles', 'seller'],
]

async function seeConsole(console: ConsoleDriver, realm: string, username: string): Promise<SeenConsole> {
  const { page, open, waitForIdle } = console
  await waitForIdle()
  const links = await page.locator(MENU).all()
  const menu = await Promise.all(links.map(async (link) => (await link.innerText()).trim()))
  const addresses = await Promise.all(links.map((link) => link.getAttribute('href')))
  const pages: SeenPage[] = []
  const see = async (title: string, actions: () => Promise<unknown>) => {
    await console.step(title, actions)
    pages.push({ page: title, requests: console.steps.at(-1)!.requests, content: await readPage(console) })
    // After an error the console shows no further pages.
    if (!(await page.locator(MENU).first().isVisible())) await page.reload()
    await waitForIdle()
  }
  for (const [at, address] of addresses.entries()) await see(menu[at]!, () => open(address!.replace(/^.*#/, '')))
  for (const [list, link] of objects) {
    if (!addresses.some((address) => address?.endsWith(`/${list}`))) continue
    await see(`${list}: ${link}`, async () => {
      await open(`/${realm}/${list}`)
      await waitForIdle()
      await page.getByRole('link', { name: link, exact: true }).first().click()
    })
  }
  return { username, menu, pages }
}

async function readPage({ page }: ConsoleDriver): Promise<SeenPage['content']> {
  const main = page.locator('main')
  const read = async (selector: string) =>
    (await main.locator(selector).allInnerTexts())
      .map((text) => text.replaceAll(/\s+/g, ' ').trim())
      .filter((text) => text !== '' && !/^http|^[\da-f]{8}-/.test(text))
  return {
    tabs: await read('[role=tab]:visible'),
    rows: await read('tbody tr:visible td:nth-child(1):not([data-label=""]), tbody tr:visible td a'),
    buttons: await read('button:visible:enabled:not([role=tab]), a.pf-v5-c-button:visible'),
    messages: await read('.pf-v5-c-empty-state__title-text:visible'),
  }
}

async function createCaller(url: string) {
  const form = { client_id: 'admin-cli', username: 'admin', password: 'admin', grant_type: 'password' }
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token: token } = JSON.parse(await response.text())
  return async (method: string, path: string, body?: object) => {
    const { status, ...response } = await send(method, `${url}${path}`, { token, body })
    if (status >= 400 && method !== 'DELETE') throw new Error(`${method} ${path}: ${status} ${response.text}`)
    return response.text === '' ? undefined : JSON.parse(response.text)
  }
}

async function send(method: string, url: string, { token, body }: { token: string; body: object | undefined }) {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}
