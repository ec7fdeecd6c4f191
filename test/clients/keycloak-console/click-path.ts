// A path through Keycloak's admin console that lists, creates, edits and deletes what a realm has.
import type { ConsoleDriver } from './driver.ts'

/** The parts of the path, which depend on the first one only. */
const parts: Readonly<Record<string, (console: ConsoleDriver, realm: string) => Promise<void>>> = {
  clients: clickClients,
  clientScopes: clickClientScopes,
  roles: clickRoles,
  groups: clickGroups,
  users: clickUsers,
  authentication: clickAuthentication,
  identityProviders: clickIdentityProviders,
}

/** Walks the whole path, or one of its parts, in a new realm. */
export async function clickPath(
  console: ConsoleDriver,
  { realm, only }: { readonly realm: string; readonly only?: string | undefined },
): Promise<void> {
  await createRealm(console, realm)
  for (const [name, click] of Object.entries(parts))
    if (only === undefined || only.split(',').includes(name)) await click(console, realm)
  await deleteRealm(console, realm)
}

async function createRealm({ step, open, page, click, fill }: ConsoleDriver, realm: string): Promise<void> {
  await step('list realms', () => open('/master/realms'))
  await step('create a realm', async () => {
    await click('add-realm')
    await fill('realm', realm)
    await click('create')
    await page.getByText('Realm created successfully').waitFor()
  })
  await step('open the realm', () => open(`/${realm}`))
}

async function deleteRealm(
  { step, open, page, confirm, chooseRowAction }: ConsoleDriver,
  realm: string,
): Promise<void> {
  await step('list realms again', () => open('/master/realms'))
  await step('delete the realm', async () => {
    await chooseRowAction(realm, 'Delete')
    await confirm()
    await page.getByText('The realm has been deleted').waitFor()
  })
}

async function clickClients(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseAction, settle } = console
  const next = () => page.getByRole('button', { name: 'Next' }).click()
  await step('list clients', () => open(`/${realm}/clients`))
  await step('create a client', async () => {
    await click('createClient')
    await fill('clientId', 'shop')
    await fill('name', 'Shop')
    await next()
    await page.getByTestId('authentication').check({ force: true })
    await page.getByTestId('authorization').check({ force: true })
    await next()
    await fill('rootUrl', 'https://shop.example.com')
    await fill('redirectUris0', 'https://shop.example.com/*')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Client created successfully').waitFor()
  })
  await step('open the tabs of a client', () => openTabs())
  await step('edit a client', async () => {
    await page.getByTestId('clientSettingsTab').click()
    await fill('description', 'The shop')
    await page.getByTestId('settings-save').first().click()
    await page.getByText('Client successfully updated').waitFor()
  })
  await step('regenerate the client secret', async () => {
    await page.getByRole('tab', { name: 'Credentials', exact: true }).click()
    await page.getByRole('button', { name: 'Regenerate' }).first().click()
    await confirm()
    await settle()
  })
  await step('create a client role', async () => {
    await page.getByTestId('rolesTab').click()
    await settle()
    await page.getByTestId(/^no-roles.*-empty-action$/).click()
    await fill('name', 'buyer')
    await click('save')
    await page.getByText('Role created').waitFor()
  })
  await step('open the tabs of a client role', () => openTabs())
  await step('list the clients again', () => open(`/${realm}/clients`))
  await step('list initial access tokens', () => click('initialAccessToken'))
  await step('list registration policies', async () => {
    await click('registration')
    await settle()
    await openTabs()
  })
  await step('open and delete the client', async () => {
    await open(`/${realm}/clients`)
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await settle()
    await chooseAction('Delete')
    await confirm()
    await page.getByText('The client has been deleted').waitFor()
  })
}

async function clickClientScopes(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, settle } = console
  await step('list client scopes', () => open(`/${realm}/client-scopes`))
  await step('create a client scope', async () => {
    await page.getByRole('link', { name: 'Create client scope' }).click()
    await fill('name', 'orders')
    await fill('description', 'Orders')
    await click('save')
    await page.getByText('Client scope created').waitFor()
  })
  await step('open the tabs of a client scope', () => openTabs())
  await step('edit a client scope', async () => {
    await page.getByRole('tab', { name: 'Settings', exact: true }).click()
    await fill('description', 'All orders')
    await click('save')
    await page.getByText('Client scope updated').waitFor()
  })
  await step('add a mapper to a client scope', async () => {
    await page.getByRole('tab', { name: 'Mappers', exact: true }).click()
    await settle()
    await page
      .getByTestId('no-mappers-empty-action-secondary')
      .or(page.getByRole('button', { name: 'Configure a new mapper' }))
      .first()
      .click()
    await page.getByRole('dialog').getByText('User Attribute', { exact: true }).click()
    await settle()
    await fill('name', 'color')
    await click('save')
    await page.getByText('Mapping successfully created').waitFor()
  })
  await step('list client scopes again', () => open(`/${realm}/client-scopes`))
  await step('delete a client scope', async () => {
    await chooseRowAction('orders', 'Delete')
    await confirm()
    await page.getByText('The client scope has been deleted').waitFor()
  })
}

async function clickRoles(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, settle } = console
  await step('list roles', () => open(`/${realm}/roles`))
  await step('create a role', async () => {
    await page.getByTestId('create-role').click()
    await fill('name', 'seller')
    await click('save')
    await page.getByText('Role created').waitFor()
  })
  await step('open the tabs of a role', () => openTabs())
  await step('edit a role', async () => {
    await page.getByRole('tab', { name: 'Details', exact: true }).click()
    await fill('description', 'Sells')
    await click('save')
    await page.getByText('The role has been saved').waitFor()
  })
  await step('assign a realm role and a client role to a role', async () => {
    await page.getByTestId('associatedRolesTab').click()
    await settle()
    await assignRoles(console, 'roles-role', 'offline_access')
    await assignRoles(console, 'client-role', 'view-users')
  })
  await step('remove a role from a role', async () => {
    await open(`/${realm}/roles`)
    await page.getByRole('link', { name: 'seller', exact: true }).click()
    await settle()
    await page.getByTestId('associatedRolesTab').click()
    await settle()
    await chooseRowAction('view-users', 'Unassign')
    await confirm()
  })
  await step('list roles again', () => open(`/${realm}/roles`))
  await step('delete a role', async () => {
    await chooseRowAction('seller', 'Delete')
    await confirm()
    await page.getByText('The role has been deleted').waitFor()
  })
}

async function assignRoles({ page, click, settle }: ConsoleDriver, kind: string, role: string): Promise<void> {
  const buttons = page.getByTestId('add-role-mapping-button').or(page.getByRole('button', { name: 'Assign role' }))
  await buttons.first().click()
  await page.getByTestId(kind).click()
  await settle()
  await page
    .getByRole('dialog')
    .getByPlaceholder(/^Search/)
    .fill(role)
  await page.keyboard.press('Enter')
  await settle()
  await page.getByRole('dialog').getByRole('row').filter({ hasText: role }).first().getByRole('checkbox').check()
  await click('assign')
  await settle()
}

async function clickGroups(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, fill, openTabs, confirm, chooseRowAction, settle } = console
  await step('list groups', () => open(`/${realm}/groups`))
  await step('create a group', async () => {
    await page.getByTestId('no-groups-in-this-realm-empty-action').click()
    await fill('name', 'staff')
    await page.getByTestId('createGroup').click()
    await page.getByText('Group created').waitFor()
  })
  await step('open a group', async () => {
    await page.getByRole('link', { name: 'staff', exact: true }).click()
    await settle()
  })
  await step('create a child group', async () => {
    await page.getByTestId(/^no-groups.*-empty-action$/).click()
    await fill('name', 'night')
    await page.getByTestId('createGroup').click()
    await page.getByText('Group created').waitFor()
  })
  await step('open the tabs of a group', () => openTabs())
  await step('assign a role to a group', async () => {
    await page.getByTestId('role-mapping-tab').click()
    await settle()
    await assignRoles(console, 'client-role', 'view-events')
  })
  await step('list groups again', () => open(`/${realm}/groups`))
  await step('delete a group', async () => {
    await chooseRowAction('staff', 'Delete')
    await confirm()
    await page.getByText('Group deleted').waitFor()
  })
}

async function clickUsers(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseAction, chooseRowAction, settle } = console
  await step('list users', () => open(`/${realm}/users`))
  await step('create a user', async () => {
    await page.getByTestId('no-users-found-empty-action').click()
    await fill('username', 'ada')
    await fill('email', 'ada@example.com')
    await fill('firstName', 'Ada')
    await fill('lastName', 'King')
    await click('user-creation-save')
    await page.getByText('The user has been created').waitFor()
  })
  await step('open the tabs of a user', () => openTabs())
  await step('set a password', async () => {
    await click('credentials')
    await settle()
    await page.getByTestId('no-credentials-empty-action').click()
    await fill('passwordField', 'Pa55-word')
    await fill('passwordConfirmationField', 'Pa55-word')
    await confirm()
    await confirm()
    await page.getByText('The password has been set successfully').waitFor()
  })
  await step('assign roles to a user', async () => {
    await click('role-mapping-tab')
    await settle()
    await assignRoles(console, 'client-role', 'view-clients')
    await assignRoles(console, 'roles-role', 'offline_access')
  })
  await step('show inherited roles of a user', async () => {
    await page.getByTestId('hideInheritedRoles').click()
    await settle()
  })
  await step('remove a role from a user', async () => {
    await page.getByTestId('hideInheritedRoles').click()
    await settle()
    await chooseRowAction('view-clients', 'Unassign')
    await confirm()
    await settle()
  })
  await step('edit a user', async () => {
    await click('user-details-tab')
    await fill('lastName', 'Lovelace')
    await click('user-creation-save')
    await page.getByText('The user has been saved').waitFor()
  })
  await step('list users again', () => open(`/${realm}/users`))
  await step('search users', async () => {
    await page.getByPlaceholder('Search user').fill('ada')
    await page.keyboard.press('Enter')
    await settle()
  })
  await step('open and delete the user', async () => {
    await page.getByRole('link', { name: 'ada', exact: true }).click()
    await settle()
    await chooseAction('Delete')
    await confirm()
    await page.getByText('The user has been deleted').waitFor()
  })
}

async function clickAuthentication(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, confirm, chooseRowAction, settle, openTabs } = console
  await step('list flows', () => open(`/${realm}/authentication`))
  await step('open the tabs of authentication', () => openTabs())
  await step('create a flow', async () => {
    await open(`/${realm}/authentication`)
    await page.getByRole('link', { name: 'Create flow' }).click()
    await fill('alias', 'my flow')
    await fill('description', 'Mine')
    await click('create')
    await page.getByText('Flow created').waitFor()
    await settle()
  })
  await step('add a step to a flow', async () => {
    await page.getByRole('button', { name: 'Add execution' }).click()
    await page.getByRole('radio').first().check()
    await click('modal-add')
    await page.getByText('Flow successfully updated').waitFor()
    await settle()
  })
  await step('add a sub-flow to a flow', async () => {
    await page.getByTestId('addSubFlow').click()
    await fill('name', 'forms')
    await click('modal-add')
    await settle()
  })
  await step('list flows again', () => open(`/${realm}/authentication`))
  await step('duplicate a flow', async () => {
    await chooseRowAction('browser', 'Duplicate')
    await page.getByTestId('confirm').click()
    await settle()
  })
  await step('delete a flow', async () => {
    await open(`/${realm}/authentication`)
    await chooseRowAction('my flow', 'Delete')
    await confirm()
    await settle()
  })
}

async function clickIdentityProviders(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseAction, settle } = console
  await step('list identity providers', () => open(`/${realm}/identity-providers`))
  await step('create an identity provider', async () => {
    await click('github-card')
    await settle()
    await fill('config.clientId', 'id')
    await fill('config.clientSecret', 'secret')
    await click('createProvider')
    await page.getByText('Identity provider successfully created').waitFor()
    await settle()
  })
  await step('open the tabs of an identity provider', () => openTabs())
  await step('edit an identity provider', async () => {
    await page.getByRole('tab', { name: 'Settings', exact: true }).click()
    await fill('displayName', 'Git')
    await page.getByTestId('idp-details-save').click()
    await page.getByText('Provider successfully updated').waitFor()
  })
  await step('add a mapper to an identity provider', async () => {
    await click('mappers-tab')
    await settle()
    await page.getByTestId('no-mappers-empty-action').click()
    await settle()
    await fill('name', 'hard')
    await settle()
  })
  await step('list identity providers again', () => open(`/${realm}/identity-providers`))
  await step('delete an identity provider', async () => {
    await page.getByRole('link', { name: 'github' }).first().click()
    await settle()
    await chooseAction('Delete')
    await confirm()
    await page.getByText('Provider successfully deleted').waitFor()
  })
}
