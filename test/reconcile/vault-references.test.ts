// References to the vault in documents: plans note those that cannot be resolved, and exports contain them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { planRun, planSources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { openVaultDirectory } from '../../src/service/context/vault-directory.ts'
import { newName, openNewService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const directory = await mkdtemp(join(tmpdir(), 'vault-'))
const service = await openNewService({ vaultDirectory: openVaultDirectory(directory) })
const serviceWithoutVault = await openNewService()
for (const server of [service, serviceWithoutVault])
  await server.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(async () => {
  await service.close()
  await serviceWithoutVault.close()
  await rm(directory, { recursive: true })
})

/** Returns a document with a secret of each kind that may be in the vault. */
const createDocument = (realm: string, { enabled = true } = {}) => `
realm: ${realm}
enabled: true
smtpServer:
  host: mail.example.org
  from: sso@example.org
  password: \${vault.smtp_pw}
  authTokenClientSecret: \${vault.token}
identityProviders:
  - alias: partner
    providerId: oidc
    enabled: ${enabled}
    config: { clientId: regent, clientSecret: "\${vault.partner}" }
components:
  org.keycloak.storage.UserStorageProvider:
    - name: staff
      providerId: ldap
      config: { editMode: [READ_ONLY], bindCredential: ["\${vault.ldap}"] }
clients:
  - clientId: billing
    secret: \${vault.billing}
`

/** Returns the notes about references as \`line: message\`. */
async function listUnresolved(by: Service, document: string): Promise<string[]> {
  const { realms } = await planSources(by, SYSTEM, [createSource([document])])
  return realms
    .flatMap(({ plan }) => plan.notes)
    .filter(({ message }) => message.includes('unresolved'))
    .map(({ position, message, effect }) => `${position?.line} ${effect}: ${message}`)
}

test('a plan notes each reference without a file, and what to do', async () => {
  const realm = newName()
  const advice = (file: string) =>
    `Add the file ${realm}_${file} to the directory of --vault-dir, readable by the server.`
  expect((await listUnresolved(service, createDocument(realm))).sort()).toEqual([
    `13 refused: identity provider partner: \${vault.partner} in config.clientSecret is unresolved, so that its use fails. ${advice('partner')}`,
    `18 refused: component UserStorageProvider/staff: \${vault.ldap} in config.bindCredential is unresolved, so that its use fails. ${advice('ldap')}`,
    `21 refused: client billing: \${vault.billing} in secret is unresolved, so that its use fails. ${advice('billing')}`,
    `7 refused: realm ${realm}: \${vault.smtp_pw} in smtpServer.password is unresolved, so that its use fails. ${advice('smtp__pw')}`,
    `8 refused: realm ${realm}: \${vault.token} in smtpServer.authTokenClientSecret is unresolved, so that its use fails. ${advice('token')}`,
  ])
  for (const file of ['smtp__pw', 'token', 'partner', 'ldap', 'billing'])
    await writeFile(join(directory, `${realm}_${file}`), 'x')
  expect(await listUnresolved(service, createDocument(realm))).toEqual([])
  expect(await listUnresolved(service, createDocument(newName()))).toHaveLength(5)
})

test('without a vault directory every reference is unresolved, except those of disabled objects', async () => {
  const notes = await listUnresolved(serviceWithoutVault, createDocument(newName(), { enabled: false }))
  expect(notes).toHaveLength(4)
  for (const note of notes) expect(note).toContain('Start the server with --vault-dir, a directory with the file')
})

test('with --strict an unresolved reference is an error', async () => {
  const realm = newName()
  const document = `{ realm: ${realm}, smtpServer: { host: a, from: a@b.example, password: "\${vault.pw}" } }`
  const source = createSource([document])
  const planStrictly = () => planRun({ service, caller: SYSTEM, sources: [source], strict: true })
  await expect(planStrictly()).rejects.toThrow(`\${vault.pw} in smtpServer.password is unresolved`)
  await writeFile(join(directory, `${realm}_pw`), 'x')
  expect((await planStrictly()).realms).toHaveLength(1)
})

test('a text is a reference only in fields that are read from the vault', async () => {
  const document = `{ realm: ${newName()}, displayName: "\${vault.a}", attributes: { a: "\${vault.a}" } }`
  expect(await listUnresolved(service, document)).toEqual([])
})

test('an export contains references without secrets, and its plan is empty', async () => {
  const realm = newName()
  await applySource(service, createSource([createDocument(realm)]))
  const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context))
  expect(exported).toMatchObject({
    smtpServer: { password: '${vault.smtp_pw}', authTokenClientSecret: '${vault.token}' },
    clients: [{ clientId: 'billing', secret: '${vault.billing}' }],
    identityProviders: [{ config: { clientSecret: '${vault.partner}' } }],
    components: { 'org.keycloak.storage.UserStorageProvider': [{ config: { bindCredential: ['${vault.ldap}'] } }] },
  })
  const source = createSource([exported], `test of ${realm}`)
  const { realms } = await planSources(service, SYSTEM, [source])
  expect(realms.flatMap(({ plan }) => plan.actions)).toEqual([])
})
