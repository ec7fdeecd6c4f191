// `regent import --terraform-state`: test/cli/terraform has a configuration, the state that OpenTofu wrote when it applied the configuration
// to Keycloak, and the realm as Keycloak then returned it.
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseRealm } from '../../src/realm-file/parse-realm.ts'
import { convertState, resourceTypes } from '../../src/realm-file/terraform/convert-state.ts'
import { readState } from '../../src/realm-file/terraform/read-state.ts'
import { createDocument } from '../../src/realm-file/yaml/document.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

const folder = join(import.meta.dirname, 'terraform')
const stateText = await readFile(join(folder, 'terraform.tfstate'), 'utf8')

/** Resource types that are like others of the state. */
const similarTypes = [
  'keycloak_custom_user_federation',
  'keycloak_generic_client_protocol_mapper',
  'keycloak_generic_client_role_mapper',
  'keycloak_kubernetes_identity_provider',
  'keycloak_oidc_openshift_v4_identity_provider',
  'keycloak_realm_keystore_java_keystore',
  'keycloak_realm_keystore_rsa',
  'keycloak_spiffe_identity_provider',
]

let cli: CommandFolder

beforeAll(async () => {
  cli = await createCommandFolder()
  await copyFile(join(folder, 'terraform.tfstate'), join(cli.folder, 'terraform.tfstate'))
  await copyFile(join(folder, 'acme.yaml'), join(cli.folder, 'keycloak.yaml'))
})

afterAll(() => cli.remove())

const importState = (...args: string[]) => cli.run('import', '--terraform-state', ...args)

/** Creates a state with one instance per resource. */
function createState(...resources: readonly { type: string; name: string; attributes: object; mode?: string }[]) {
  const list = resources.map(({ attributes, mode = 'managed', ...resource }) => ({
    ...resource,
    mode,
    instances: [{ attributes }],
  }))
  return readState('state.json', JSON.stringify({ version: 4, resources: list }))
}

const realm = { type: 'keycloak_realm', name: 'acme', attributes: { id: 'acme', realm: 'acme', enabled: true } }

describe('import --terraform-state', () => {
  test('converts the state of a realm to files whose plan against the realm is empty', async () => {
    expect(await cli.run('apply', 'keycloak.yaml', '--name', 'keycloak')).toMatchObject({ code: 0 })
    expect(await cli.run('source', 'forget', 'keycloak', 'acme', '--yes')).toMatchObject({ code: 0 })
    for (const options of [[], ['--secrets']]) {
      const target = options.length ? 'secrets.yaml' : 'acme.yaml'
      const imported = await importState('terraform.tfstate', '--file', target, ...options)
      expect(imported).toMatchObject({ code: 0, err: '' })
      expect(imported.out).toMatch(options.length ? /^(?!.*left out)/s : /left out/)
      const plan = await cli.run('plan', target, '--name', 'terraform', '--detailed-exitcode')
      expect(plan).toMatchObject({ code: 0, err: '', out: expect.stringContaining('realm acme: unchanged') })
    }
    expect(await readFile(join(cli.folder, 'acme.yaml'), 'utf8')).not.toMatch(
      /(shop|partner|google)-secret|(mail|reader)-password/,
    )
  })

  test('the files create the realm in a new store', async () => {
    const other = await createCommandFolder()
    const state = join(cli.folder, 'terraform.tfstate')
    await other.run('import', '--terraform-state', state, '--file', 'acme.yaml', '--secrets')
    expect(await other.run('apply', 'acme.yaml')).toMatchObject({ code: 0 })
    expect(await other.run('plan', 'acme.yaml', '--detailed-exitcode')).toMatchObject({ code: 0 })
    const { authenticationFlows, clients } = JSON.parse((await other.run('export', 'acme', '--output', 'json')).out)
    expect(authenticationFlows).toContainEqual(expect.objectContaining({ alias: 'acme browser', topLevel: true }))
    expect(clients).toContainEqual(expect.objectContaining({ name: 'Payroll', protocol: 'saml' }))
    await other.remove()
  })

  test('lists what the files do not contain by address', async () => {
    const { out } = await importState('terraform.tfstate', '--dir', 'listed')
    expect(out.replace(/^Wrote \d+ files/, 'Wrote files').replaceAll(/ {2,}/g, '  ')).toBe(`\
Wrote files to listed.
Not converted:
  keycloak_user.alice  initial_password sets a password only when the user is created
  keycloak_user_groups.alice  exhaustive is false, and the file declares all of them: check in the plan that none is removed
  keycloak_user_roles.alice  exhaustive is false, and the file declares all of them: check in the plan that none is removed
  keycloak_users_permissions.acme  resources of this type are not converted
These secrets are left out. Add each as a variable, or pass --secrets:
  keycloak_ldap_user_federation.directory  bind_credential is a secret
  keycloak_oidc_facebook_identity_provider.facebook  client_secret is a secret
  keycloak_oidc_github_identity_provider.github  client_secret is a secret
  keycloak_oidc_google_identity_provider.google  client_secret is a secret
  keycloak_oidc_identity_provider.partner  client_secret is a secret
  keycloak_oidc_microsoft_identity_provider.microsoft  client_secret is a secret
  keycloak_openid_client.shop  client_secret is a secret
  keycloak_realm.acme  smtp_server.auth.password is a secret
  module.apps.keycloak_openid_client.app[1]  client_secret is a secret
`)
  })

  test('the state has every convertible resource type, or a similar one', () => {
    const { resources } = readState('terraform.tfstate', stateText)
    const types = resources.filter(({ isData }) => !isData).map(({ type }) => type)
    expect(new Set(types).size).toBeGreaterThan(90)
    expect(Object.keys(resourceTypes).filter((type) => !types.includes(type))).toEqual(
      expect.arrayContaining(similarTypes),
    )
    expect(Object.keys(resourceTypes).filter((type) => !types.includes(type))).toHaveLength(similarTypes.length)
  })

  test('the document of a state is valid', () => {
    const { document } = convertState(readState('terraform.tfstate', stateText), 'acme')
    expect(parseRealm(createDocument('acme.yaml', document)).warnings).toEqual([])
  })

  test('reads a state from the standard input', async () => {
    const piped = await cli.shell('cat terraform.tfstate | regent import --terraform-state - --file piped.yaml', {})
    expect(piped).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Wrote piped.yaml.') })
  })

  test('lists attributes without a counterpart, and references to objects that the state does not contain', () => {
    const role = { id: 'r', realm_id: 'acme', name: 'clerk', client_id: 'c', new_setting: 'on' }
    const group = { id: 'g', realm_id: 'acme', name: 'staff', new_setting: 'on' }
    const state = createState(
      realm,
      { type: 'keycloak_role', name: 'clerk', attributes: role },
      { type: 'keycloak_group', name: 'staff', attributes: group },
      { type: 'keycloak_default_groups', name: 'all', attributes: { id: 'd', realm_id: 'acme', group_ids: ['x'] } },
      { type: 'random_password', name: 'secret', attributes: { id: 'none' } },
    )
    expect(convertState(state, 'acme').omittedParts).toEqual([
      { address: 'keycloak_role.clerk', reason: 'refers to client c, which the state does not contain' },
      { address: 'keycloak_group.staff', attribute: 'new_setting', reason: 'has no counterpart' },
      {
        address: 'keycloak_default_groups.all',
        attribute: 'group_ids',
        reason: 'refers to group x, which the state does not contain',
      },
    ])
    expect([...state.otherTypes]).toEqual([['random_password', 1]])
  })

  test('keeps the ids of a list that the state contains, and lists each other one', () => {
    const role = (name: string, composites: readonly string[] = []) => ({
      ...{ type: 'keycloak_role', name },
      attributes: { id: name, realm_id: 'acme', name, composite_roles: composites },
    })
    const group = { id: 'g', realm_id: 'acme', name: 'staff' }
    const roles = { id: 'm', realm_id: 'acme', group_id: 'g', role_ids: ['y', 'clerk'] }
    const state = createState(
      realm,
      role('admin', ['clerk', 'x', 'of-client', 'auditor']),
      { ...role('of-client'), attributes: { ...role('of-client').attributes, client_id: 'c' } },
      role('clerk'),
      role('auditor'),
      { type: 'keycloak_group', name: 'staff', attributes: group },
      { type: 'keycloak_group_roles', name: 'staff', attributes: roles },
    )
    const { document, omittedParts } = convertState(state, 'acme')
    expect(document).toMatchObject({
      roles: { realm: expect.arrayContaining([{ name: 'admin', composites: { realm: ['clerk', 'auditor'] } }]) },
      groups: [{ name: 'staff', realmRoles: ['clerk'] }],
    })
    const reason = (id: string) =>
      `refers to ${id}, which the state does not contain. The file declares the others, so that a plan removes this one: add it`
    expect(omittedParts).toEqual([
      { address: 'keycloak_role.admin', attribute: 'composite_roles', reason: reason('role x') },
      { address: 'keycloak_role.admin', attribute: 'composite_roles', reason: reason('client c') },
      { address: 'keycloak_role.of-client', reason: 'refers to client c, which the state does not contain' },
      { address: 'keycloak_group_roles.staff', attribute: 'role_ids', reason: reason('role y') },
    ])
  })

  test('finds the names of objects that only data sources read', () => {
    const data = { mode: 'data', type: 'keycloak_openid_client', name: 'account' }
    const state = createState(
      realm,
      { ...data, attributes: { id: 'c', realm_id: 'acme', client_id: 'account' } },
      {
        type: 'keycloak_role',
        name: 'viewer',
        attributes: { id: 'r', realm_id: 'acme', name: 'viewer', client_id: 'c' },
      },
    )
    expect(convertState(state, 'acme')).toMatchObject({
      document: { roles: { client: { account: [{ name: 'viewer' }] } } },
      omittedParts: [],
    })
  })

  test('writes texts that look like variables so that they are not replaced', () => {
    const state = createState({ ...realm, attributes: { ...realm.attributes, display_name: 'Costs $(env:NOTHING)' } })
    expect(convertState(state, 'acme').document.displayName).toBe('Costs $$(env:NOTHING)')
  })

  test.each([
    ['{\n  "version": 4,\n  oops', 'state.json:3:3: This is no JSON'],
    ['{"format_version": "1.0", "values": {}}', 'state.json:1:1: This is no Terraform state.'],
    ['{"version": 3, "resources": []}', 'state.json:1:1: The state has version 3, and only version 4 is read.'],
    ['{"version": 4, "encrypted_data": "x"}', 'state.json:1:1: The state is encrypted.'],
    ['{"version": 4, "resources": []}', 'state.json has no resources of the Keycloak provider.'],
  ])('refuses %s, and writes nothing', async (content, message) => {
    await writeFile(join(cli.folder, 'state.json'), content)
    const { code, out, err } = await importState('state.json', '--file', 'refused.yaml')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
    await expect(readFile(join(cli.folder, 'refused.yaml'))).rejects.toThrow('ENOENT')
  })

  test('requires --realm for a state with several realms', async () => {
    const resources = ['one', 'two'].map((name) => ({
      mode: 'managed',
      type: 'keycloak_realm',
      name,
      instances: [{ attributes: { id: name, realm: name } }],
    }))
    await writeFile(join(cli.folder, 'realms.json'), JSON.stringify({ version: 4, resources }))
    expect((await importState('realms.json', '--file', 'x.yaml')).err).toContain('has the realms one, two')
    expect((await importState('realms.json', '--realm', 'three')).err).toContain('has no realm three')
    expect(await importState('realms.json', '--realm', 'two', '--file', 'two.yaml')).toMatchObject({ code: 0 })
    expect(await readFile(join(cli.folder, 'two.yaml'), 'utf8')).toBe('realm: two\n')
  })

  test('refuses a URL and options for servers, and writes nothing', async () => {
    expect((await importState('terraform.tfstate', 'https://id.example.com')).err).toContain('not both')
    expect((await importState('terraform.tfstate', '--from-user', 'admin')).err).toContain('--from-user')
    for (const option of [
      ['--check'],
      ['--keys', 'keys.p12'],
      ['--key-alias', 'signing'],
      ['--keys-password', 'secret'],
    ])
      expect(await importState('terraform.tfstate', '--dir', 'refused', ...option)).toMatchObject({
        ...{ code: 1, out: '', err: expect.stringContaining(option[0]!) },
      })
    await expect(readdir(join(cli.folder, 'refused'))).rejects.toThrow('ENOENT')
    expect((await cli.run('import')).err).toContain('Pass the URL of a Keycloak server')
    expect((await cli.run('import', 'https://id.example.com')).err).toContain('Pass --realm')
  })
})
