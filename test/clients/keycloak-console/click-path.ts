// A path through Keycloak's admin console that lists, creates, edits and deletes what a realm has.
import type { ConsoleDriver } from './driver.ts'

/** The parts of the path, which depend on the first one only. */
const parts: readonly ((console: ConsoleDriver, realm: string) => Promise<void>)[] = [
  clickRealmSettings,
  clickClients,
  clickClientScopes,
  clickRoles,
  clickGroups,
  clickUsers,
  clickAuthentication,
  clickIdentityProviders,
  clickOrganizations,
  clickPermissions,
  clickWorkflows,
  clickSessionsAndEvents,
]

/** Walks the path in a new realm. */
export async function clickPath(console: ConsoleDriver, realm: string): Promise<void> {
  await createRealm(console, realm)
  for (const click of parts) await click(console, realm)
  await deleteRealm(console, realm)
}

async function createRealm({ step, open, click, fill, expectMessage }: ConsoleDriver, realm: string): Promise<void> {
  await step('list realms', () => open('/master/realms'))
  await step('create a realm', async () => {
    await click('add-realm')
    await fill('realm', realm)
    await click('create')
    await expectMessage('Realm created successfully')
  })
  await step('open the realm', () => open(`/${realm}`))
}

async function deleteRealm(
  { step, open, confirm, chooseRowAction, expectMessage }: ConsoleDriver,
  realm: string,
): Promise<void> {
  await step('list realms again', () => open('/master/realms'))
  await step('delete the realm', async () => {
    await chooseRowAction(realm, 'Delete')
    await confirm()
    await expectMessage('The realm has been deleted')
  })
}

async function clickClients(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseAction, waitForIdle, expectMessage } = console
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
    await expectMessage('Client created successfully')
  })
  await step('open the tabs of a client', () => openTabs())
  await step('edit a client', async () => {
    await page.getByTestId('clientSettingsTab').click()
    await fill('description', 'The shop')
    await page.getByTestId('settings-save').first().click()
    await expectMessage('Client successfully updated')
  })
  await step('regenerate the client secret', async () => {
    await page.getByRole('tab', { name: 'Credentials', exact: true }).click()
    await waitForIdle()
    await page.getByRole('button', { name: 'Regenerate' }).first().click()
    await confirm()
    await page
      .getByTestId('global-alerts')
      .getByText(/regenerat|updated/i)
      .first()
      .waitFor()
  })
  await step('create a client role', async () => {
    await page.getByTestId('rolesTab').click()
    await waitForIdle()
    await page.getByTestId('create-role').click()
    await fill('name', 'buyer')
    await click('save')
    await expectMessage('Role created')
  })
  await step('open the tabs of a client role', () => openTabs())
  await step('list the clients again', () => open(`/${realm}/clients`))
  await step('list initial access tokens', () => click('initialAccessToken'))
  await step('list registration policies', async () => {
    await click('registration')
    await waitForIdle()
    await openTabs()
  })
  await step('open and delete the client', async () => {
    await open(`/${realm}/clients`)
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await waitForIdle()
    await chooseAction('Delete')
    await confirm()
    await expectMessage('The client has been deleted')
  })
}

async function clickClientScopes(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  await step('list client scopes', () => open(`/${realm}/client-scopes`))
  await step('create a client scope', async () => {
    await page.getByRole('link', { name: 'Create client scope' }).click()
    await fill('name', 'orders')
    await fill('description', 'Orders')
    await click('save')
    await expectMessage('Client scope created')
  })
  await step('open the tabs of a client scope', () => openTabs())
  await step('edit a client scope', async () => {
    await page.getByRole('tab', { name: 'Settings', exact: true }).click()
    await fill('description', 'All orders')
    await click('save')
    await expectMessage('Client scope updated')
  })
  await step('add a mapper to a client scope', async () => {
    await page.getByRole('tab', { name: 'Mappers', exact: true }).click()
    await waitForIdle()
    await page
      .getByTestId('no-mappers-empty-action-secondary')
      .or(page.getByRole('button', { name: 'Configure a new mapper' }))
      .first()
      .click()
    await page.getByRole('dialog').getByText('User Attribute', { exact: true }).click()
    await waitForIdle()
    await fill('name', 'color')
    await fill('claim.name', 'color')
    await click('save')
    await expectMessage('Mapping successfully created')
  })
  await step('list client scopes again', () => open(`/${realm}/client-scopes`))
  await step('delete a client scope', async () => {
    await chooseRowAction('orders', 'Delete')
    await confirm()
    await expectMessage('The client scope has been deleted')
  })
}

async function clickRoles(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  await step('list roles', () => open(`/${realm}/roles`))
  await step('create a role', async () => {
    await page.getByTestId('create-role').click()
    await fill('name', 'seller')
    await click('save')
    await expectMessage('Role created')
  })
  await step('open the tabs of a role', () => openTabs())
  await step('edit a role', async () => {
    await page.getByRole('tab', { name: 'Details', exact: true }).click()
    await fill('description', 'Sells')
    await click('save')
    await expectMessage('The role has been saved')
  })
  await step('assign a realm role and a client role to a role', async () => {
    await page.getByTestId('associatedRolesTab').click()
    await waitForIdle()
    await assignRoles(console, 'roles-role', 'offline_access')
    await assignRoles(console, 'client-role', 'view-users')
  })
  await step('remove a role from a role', async () => {
    await open(`/${realm}/roles`)
    await page.getByRole('link', { name: 'seller', exact: true }).click()
    await waitForIdle()
    await page.getByTestId('associatedRolesTab').click()
    await waitForIdle()
    await chooseRowAction('view-users', 'Unassign')
    await confirm()
    await page.getByRole('row').filter({ hasText: 'view-users' }).waitFor({ state: 'detached' })
  })
  await step('list roles again', () => open(`/${realm}/roles`))
  await step('delete a role', async () => {
    await chooseRowAction('seller', 'Delete')
    await confirm()
    await expectMessage('The role has been deleted')
  })
}

async function assignRoles({ page, click, waitForIdle }: ConsoleDriver, kind: string, role: string): Promise<void> {
  const buttons = page.getByTestId('add-role-mapping-button').or(page.getByRole('button', { name: 'Assign role' }))
  await buttons.first().click()
  await page.getByTestId(kind).click()
  await waitForIdle()
  await page
    .getByRole('dialog')
    .getByPlaceholder(/^Search/)
    .fill(role)
  await page.keyboard.press('Enter')
  await waitForIdle()
  await page.getByRole('dialog').getByRole('row').filter({ hasText: role }).first().getByRole('checkbox').check()
  await click('assign')
  await waitForIdle()
}

async function clickGroups(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, fill, openTabs, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  await step('list groups', () => open(`/${realm}/groups`))
  await step('create a group', async () => {
    await page.getByTestId('no-groups-in-this-realm-empty-action').click()
    await fill('name', 'staff')
    await page.getByTestId('createGroup').click()
    await expectMessage('Group created')
  })
  await step('open a group', async () => {
    await page.getByRole('link', { name: 'staff', exact: true }).click()
    await waitForIdle()
  })
  await step('create a child group', async () => {
    await page.getByTestId(/^no-groups.*-empty-action$/).click()
    await fill('name', 'night')
    await page.getByTestId('createGroup').click()
    await expectMessage('Group created')
  })
  await step('open the tabs of a group', () => openTabs())
  await step('assign a role to a group', async () => {
    await page.getByTestId('role-mapping-tab').click()
    await waitForIdle()
    await assignRoles(console, 'client-role', 'view-events')
  })
  await step('list groups again', () => open(`/${realm}/groups`))
  await step('delete a group', async () => {
    await chooseRowAction('staff', 'Delete')
    await confirm()
    await expectMessage('Group deleted')
  })
}

async function clickUsers(console: ConsoleDriver, realm: string): Promise<void> {
  const {
    step,
    open,
    page,
    click,
    fill,
    openTabs,
    confirm,
    chooseAction,
    chooseRowAction,
    waitForIdle,
    expectMessage,
  } = console
  await step('list users', () => open(`/${realm}/users`))
  await step('create a user', async () => {
    await page.getByTestId('no-users-found-empty-action').click()
    await fill('username', 'ada')
    await fill('email', 'ada@example.com')
    await fill('firstName', 'Ada')
    await fill('lastName', 'King')
    await click('user-creation-save')
    await expectMessage('The user has been created')
  })
  await step('open the tabs of a user', () => openTabs())
  await step('set a password', async () => {
    await click('credentials')
    await waitForIdle()
    await page.getByTestId('no-credentials-empty-action').click()
    await fill('passwordField', 'Pa55-word')
    await fill('passwordConfirmationField', 'Pa55-word')
    await confirm()
    await confirm()
    await expectMessage('The password has been set successfully')
  })
  await step('assign roles to a user', async () => {
    await click('role-mapping-tab')
    await waitForIdle()
    await assignRoles(console, 'client-role', 'view-clients')
    await assignRoles(console, 'roles-role', 'offline_access')
  })
  await step('show inherited roles of a user', async () => {
    await page.getByTestId('hideInheritedRoles').click()
    await waitForIdle()
  })
  await step('remove a role from a user', async () => {
    await page.getByTestId('hideInheritedRoles').click()
    await waitForIdle()
    await chooseRowAction('view-clients', 'Unassign')
    await confirm()
    await page.getByRole('row').filter({ hasText: 'view-clients' }).waitFor({ state: 'detached' })
  })
  await step('edit a user', async () => {
    await click('user-details-tab')
    await fill('lastName', 'Lovelace')
    await click('user-creation-save')
    await expectMessage('The user has been saved')
  })
  await step('list users again', () => open(`/${realm}/users`))
  await step('search users', async () => {
    await page.getByPlaceholder('Search user').fill('ada')
    await page.keyboard.press('Enter')
    await waitForIdle()
  })
  await step('open and delete the user', async () => {
    await page.getByRole('link', { name: 'ada', exact: true }).click()
    await waitForIdle()
    await chooseAction('Delete')
    await confirm()
    await expectMessage('The user has been deleted')
  })
}

async function clickAuthentication(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, confirm, chooseRowAction, waitForIdle, openTabs, expectMessage } = console
  await step('list flows', () => open(`/${realm}/authentication`))
  await step('open the tabs of authentication', () => openTabs())
  await step('create a flow', async () => {
    await open(`/${realm}/authentication`)
    await page.getByRole('link', { name: 'Create flow' }).click()
    await fill('alias', 'my flow')
    await fill('description', 'Mine')
    await click('create')
    await expectMessage('Flow created')
    await waitForIdle()
  })
  await step('add a step to a flow', async () => {
    await page.getByRole('button', { name: 'Add execution' }).click()
    await page.getByRole('radio').first().check()
    await click('modal-add')
    await expectMessage('Flow successfully updated')
    await waitForIdle()
  })
  await step('add a sub-flow to a flow', async () => {
    await page.getByTestId('addSubFlow').click()
    await fill('name', 'my forms')
    await click('modal-add')
    await expectMessage('Flow successfully updated')
    await waitForIdle()
  })
  await step('list flows again', () => open(`/${realm}/authentication`))
  await step('duplicate a flow', async () => {
    await chooseRowAction('browser', 'Duplicate')
    await confirm()
    await expectMessage('Flow successfully duplicated')
    await waitForIdle()
  })
  await step('delete a flow', async () => {
    await open(`/${realm}/authentication`)
    await chooseRowAction('my flow', 'Delete')
    await confirm()
    await expectMessage('Flow successfully deleted')
  })
}

async function clickIdentityProviders(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseAction, waitForIdle, expectMessage } = console
  await step('list identity providers', () => open(`/${realm}/identity-providers`))
  await step('create an identity provider', async () => {
    await click('github-card')
    await waitForIdle()
    await fill('config.clientId', 'id')
    await fill('config.clientSecret', 'secret')
    await click('createProvider')
    await expectMessage('Identity provider successfully created')
    await waitForIdle()
  })
  await step('open the tabs of an identity provider', () => openTabs())
  await step('edit an identity provider', async () => {
    await page.getByRole('tab', { name: 'Settings', exact: true }).click()
    await fill('displayName', 'Git')
    await page.getByTestId('idp-details-save').click()
    await expectMessage('Provider successfully updated')
  })
  await step('add a mapper to an identity provider', async () => {
    await click('mappers-tab')
    await waitForIdle()
    await page.getByTestId('no-mappers-empty-action').click()
    await waitForIdle()
    await fill('name', 'hard')
    await click('new-mapper-save-button')
    await waitForIdle()
  })
  await step('list identity providers again', () => open(`/${realm}/identity-providers`))
  await step('delete an identity provider', async () => {
    await page.getByRole('link', { name: 'Git', exact: true }).click()
    await waitForIdle()
    await chooseAction('Delete')
    await confirm()
    await expectMessage('Provider successfully deleted')
  })
}

async function clickRealmSettings(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  const saved = () => expectMessage('Realm successfully updated')
  await step('open realm settings', () => open(`/${realm}/realm-settings`))
  await step('open the tabs of realm settings', () => openTabs())
  await step('edit general settings', async () => {
    await open(`/${realm}/realm-settings/general`)
    await fill('displayName', 'The realm')
    await page.getByTestId('organizationsEnabled').check({ force: true })
    await page.getByTestId('adminPermissionsEnabled').check({ force: true })
    await click('realmSettingsGeneralTab-save')
    await saved()
  })
  await step('edit login settings', async () => {
    await click('rs-login-tab')
    await page.locator('label:has([data-testid=remember-me-switch])').click()
    await waitForIdle()
  })
  await step('edit email settings', async () => {
    await click('rs-email-tab')
    await fill('smtpServer.from', 'realm@example.com')
    await fill('smtpServer.host', 'localhost')
    await click('email-tab-save')
    await saved()
  })
  await step('edit themes', async () => {
    await click('rs-themes-tab')
    await waitForIdle()
    await page.getByTestId('themes-tab-save').click()
    await saved()
  })
  await step('edit event settings', async () => {
    await click('rs-realm-events-tab')
    await waitForIdle()
    await click('rs-events-tab')
    await page.getByTestId('eventsEnabled').check({ force: true })
    await click('save-user')
    await waitForIdle()
    await click('rs-admin-events-tab')
    await page.getByTestId('adminEventsEnabled').check({ force: true })
    await click('save-admin')
    await waitForIdle()
  })
  await step('edit localization', async () => {
    await click('rs-localization-tab')
    await waitForIdle()
    await page.getByTestId('internationalizationEnabled').check({ force: true })
    await click('localization-tab-save')
    await saved()
  })
  await step('add a translation', async () => {
    await click('rs-localization-realm-overrides-tab')
    await waitForIdle()
    await page
      .getByTestId(/add-translation/i)
      .first()
      .click()
    await fill('key', 'greeting')
    await fill('value', 'Hello')
    await page
      .getByTestId('add-translation-confirm-button')
      .or(page.getByRole('button', { name: 'Create', exact: true }))
      .first()
      .click()
    await waitForIdle()
  })
  await step('list the effective texts', async () => {
    await click('rs-localization-effective-message-bundles-tab')
    await waitForIdle()
  })
  await step('edit headers', async () => {
    await click('rs-security-defenses-tab')
    await fill('browserSecurityHeaders.xRobotsTag', 'noindex')
    await click('headers-form-tab-save')
    await saved()
  })
  await step('edit brute force detection', async () => {
    await click('security-defenses-brute-force-tab')
    await page.getByTestId('select-brute-force-mode').or(page.locator('#kc-brute-force-mode')).first().click()
    await page.getByRole('option', { name: 'Lockout temporarily' }).click()
    await click('brute-force-tab-save')
    await saved()
  })
  await step('edit sessions', async () => {
    await click('rs-sessions-tab')
    await page.getByTestId('sso-session-idle-input').fill('20')
    await click('sessions-tab-save')
    await saved()
  })
  await step('edit tokens', async () => {
    await click('rs-tokens-tab')
    await page.getByTestId('access-token-lifespan-input').fill('4')
    await page.getByTestId('tokens-tab-save').first().click()
    await saved()
  })
  await step('create a client profile', async () => {
    await open(`/${realm}/realm-settings/client-policies/profiles`)
    await open(`/${realm}/realm-settings/client-policies/profiles/add-profile`)
    await waitForIdle()
    await fill('name', 'strict')
    await click('saveCreateProfile')
    await expectMessage('New client profile created')
  })
  await step('create a client policy', async () => {
    await open(`/${realm}/realm-settings/client-policies/policies`)
    await open(`/${realm}/realm-settings/client-policies/policies/add-client-policy`)
    await waitForIdle()
    await fill('name', 'for-all')
    await click('saveCreatePolicy')
    await expectMessage('New policy created')
  })
  await step('add an attribute to the user profile', async () => {
    await open(`/${realm}/realm-settings/user-profile/attributes`)
    await click('createAttributeBtn')
    await waitForIdle()
    await fill('name', 'color')
    await click('attribute-create')
    await expectMessage('User Profile configuration has been saved')
  })
  await step('delete an attribute of the user profile', async () => {
    await open(`/${realm}/realm-settings/user-profile/attributes`)
    await chooseRowAction('color', 'Delete')
    await confirm()
    await waitForIdle()
  })
  await step('reload the realm', async () => {
    await page.reload()
    await waitForIdle()
  })
}

async function clickOrganizations(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, fill, openTabs, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  await step('list organizations', () => open(`/${realm}/organizations`))
  await step('create an organization', async () => {
    await page.getByTestId('no-organizations-empty-action').or(page.getByTestId('addOrganization')).first().click()
    await fill('name', 'acme')
    await fill('domains0', 'acme.example.com')
    await click('save')
    await expectMessage('Organization successfully saved')
    await waitForIdle()
  })
  await step('open the tabs of an organization', () => openTabs())
  await step('edit an organization', async () => {
    await click('settingsTab')
    await fill('description', 'All of them')
    await click('save')
    await expectMessage('Organization successfully saved')
  })
  await step('list organizations again', () => open(`/${realm}/organizations`))
  await step('delete an organization', async () => {
    await chooseRowAction('acme', 'Delete')
    await confirm()
    await expectMessage('The organization has been deleted')
  })
}

async function clickPermissions(console: ConsoleDriver): Promise<void> {
  const { step, page, fill, confirm, chooseRowAction, waitForIdle, openTabs, expectMessage } = console
  await step('list permissions', () =>
    page.locator('#nav-item-permissions, [data-testid="permissions"], a[href$="/permissions"]').first().click(),
  )
  await step('open the tabs of permissions', () => openTabs())
  await step('create a policy of permissions', async () => {
    await page.getByTestId('permissionsPolicies').click()
    await waitForIdle()
    await page
      .getByTestId(/empty-action$/)
      .or(page.getByTestId('createPolicy'))
      .first()
      .click()
    await waitForIdle()
    await page
      .getByRole('gridcell', { name: 'User', exact: true })
      .or(page.getByRole('dialog').getByText('User', { exact: true }))
      .first()
      .click()
    await waitForIdle()
    await fill('name', 'nobody')
    await page.getByTestId('save').click()
    await expectMessage('Successfully created the policy')
  })
  await step('create a permission', async () => {
    await page.getByRole('link', { name: 'Permissions' }).first().click()
    await waitForIdle()
    await page.getByTestId('permissionsResources').click()
    await waitForIdle()
    await page
      .getByTestId(/empty-action$/)
      .or(page.getByTestId('createScopeBasedPermissionBtn'))
      .first()
      .click()
    await page.getByTestId('Clients').click()
    await waitForIdle()
    await fill('name', 'all-clients')
    await page.locator('#scopes').first().click()
    await page.getByRole('option', { name: 'view', exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByTestId('select-assignedPolicy-button').click()
    await waitForIdle()
    await page.getByRole('dialog').getByRole('row').filter({ hasText: 'nobody' }).getByRole('checkbox').check()
    await page.getByRole('dialog').getByTestId('confirm').click()
    await page.getByTestId('save').click()
    await expectMessage('Successfully created the permission')
  })
  await step('list permissions again', async () => {
    await page.getByRole('link', { name: 'Permissions' }).first().click()
    await waitForIdle()
  })
  await step('delete a permission', async () => {
    await chooseRowAction('all-clients', 'Delete')
    await confirm()
    await expectMessage('Successfully deleted permission')
  })
}

const WORKFLOW = `name: leavers
on: user-created
steps:
  - uses: disable-user
    after: "10d"
`

async function clickWorkflows(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, click, confirm, chooseRowAction, waitForIdle, expectMessage } = console
  await step('list workflows', () => open(`/${realm}/workflows`))
  await step('create a workflow', async () => {
    await page
      .getByTestId(/empty-action$/)
      .or(page.getByTestId('create-workflow'))
      .first()
      .click()
    await waitForIdle()
    await page.locator('textarea').first().fill(WORKFLOW)
    await click('save')
    await expectMessage('The workflow has been created')
    await waitForIdle()
  })
  await step('open and edit a workflow', async () => {
    await page.getByRole('link', { name: 'leavers' }).click()
    await waitForIdle()
    await page.locator('textarea').first().press('End')
    await click('save')
    await expectMessage('Workflow updated successfully')
  })
  await step('list workflows again', () => open(`/${realm}/workflows`))
  await step('disable a workflow', async () => {
    await page.locator('label:has([data-testid=toggle-enabled-leavers])').click()
    await expectMessage('Workflow disabled')
  })
  await step('delete a workflow', async () => {
    await chooseRowAction('leavers', 'Delete')
    await confirm()
    await expectMessage('The workflow has been deleted')
  })
}

async function clickSessionsAndEvents(console: ConsoleDriver, realm: string): Promise<void> {
  const { step, open, page, openTabs, chooseAction, waitForIdle } = console
  await step('list sessions', () => open(`/${realm}/sessions`))
  await step('open revocation', async () => {
    await chooseAction('Revocation')
    await waitForIdle()
    await page.getByTestId('cancel').click()
  })
  await step('list the sessions of master', () => open('/master/sessions'))
  await step('list events', () => open(`/${realm}/events`))
  await step('open the tabs of events', () => openTabs())
  await step('list user federation providers', () => open(`/${realm}/user-federation`))
}
