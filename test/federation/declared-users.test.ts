// Users of directories in documents: they are adopted, and neither pruned nor shown as drift.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LDAP_MAPPER } from '../../src/kinds/component-types.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { importUserForLogin } from '../../src/service/federation/directory-login.ts'
import { withStoreConnection } from '../../src/service/federation/store-connection.ts'
import { synchronizeUsers } from '../../src/service/federation/synchronize.ts'
import { listUserStores } from '../../src/service/users/user-store.ts'
import { changeDirectory, createMapper, createStore, FOLDERS, readDirectory, renderUser } from '../support/directory.ts'
import { listLiveObjects } from '../support/live-objects.ts'
import { exportDocument, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'
import { applySource, planText } from '../support/sources.ts'

useNewRealmPerTest()

let directory: TestDirectory

const toMapper = ([field, attribute]: readonly [string, string]) => {
  const settings = { 'user.model.attribute': field, 'ldap.attribute': attribute }
  const { name, providerId, config } = createMapper('', 'user-attribute-ldap-mapper', settings)
  return { name: `${name} ${field}`, providerId, config }
}

/** A document with a role, the user store and its mappers, and users. */
const toDocument = (users: readonly object[], settings: Readonly<Record<string, string>> = {}) => {
  const { providerType, ...store } = createStore(directory.url, settings)
  const mappers = [['email', 'mail'] as const, ['firstName', 'cn'] as const].map(toMapper)
  const component = { ...store, subComponents: { [LDAP_MAPPER]: mappers } }
  return toRealmSource({
    roles: { realm: [{ name: 'reader' }] },
    components: { [providerType]: [component] },
    ...(users.length && { users }),
  })
}

async function synchronize(): Promise<void> {
  const [store] = await service.read(SYSTEM, realm, listUserStores)
  await synchronizeUsers(service, { store: store!, mode: 'full' })
}

async function setMail(name: string, mail: string): Promise<void> {
  const [store] = await service.read(SYSTEM, realm, listUserStores)
  await withStoreConnection(service, store!, (connection) =>
    connection.replaceAttributes(`uid=${name},ou=users,dc=example,dc=org`, { mail: [mail] }),
  )
}

const CARL = 'uid=carl,ou=users,dc=example,dc=org'
const CARL_ENTRY = {
  objectClass: ['inetOrgPerson'],
  uid: ['carl'],
  cn: ['Carl'],
  sn: ['Carl'],
  mail: ['carl@example.org'],
}

const findUser = async (name: string) => (await listLiveObjects(service, SYSTEM, realm, 'user')).get(name)

describe.skipIf(!hasSlapd)('with a directory', () => {
  beforeAll(async () => {
    directory = await startSlapd({ entries: [FOLDERS, renderUser('ann'), renderUser('bob')].join('\n') })
  })
  afterAll(() => directory?.remove())
  beforeEach(async () => {
    await applySource(service, toDocument([]))
    await synchronize()
  })

  test('a plan names the settings of a user store that have no effect', async () => {
    const text = await planText(
      service,
      toDocument([], { allowKerberosAuthentication: 'true', connectionPooling: 'false' }),
    )
    expect(text).toContain('allowKerberosAuthentication')
    expect(text).toContain('Kerberos is not supported')
    expect(text).not.toContain('connectionPooling is')
    expect(await planText(service, toDocument([], { importEnabled: 'false' }))).toContain(
      'who log in or are found are stored in the realm',
    )
  })

  test('imported users are neither drift nor changes of a plan', async () => {
    expect(await planText(service, toDocument([]))).toContain('Nothing to do.')
    expect(await listDrift(service, SYSTEM, realm)).toEqual([])
  })

  test('a document adopts a user of the directory, adds roles, and does not prune the user', async () => {
    const before = await findUser('ann')
    const declared = toDocument([{ username: 'ann', realmRoles: ['reader'] }])
    expect(await planText(service, declared)).toContain('user ann')
    await applySource(service, declared)
    const adopted = await findUser('ann')
    expect(adopted).toMatchObject({
      id: before!.id,
      representation: { realmRoles: expect.arrayContaining(['reader']) },
    })
    await applySource(service, toDocument([]))
    expect(await findUser('ann')).toMatchObject({ id: before!.id })
    expect(await planText(service, toDocument([]))).toContain('Nothing to do.')
  })

  test('a change of the directory is not shown as drift, and is not corrected', async () => {
    const declared = toDocument([{ username: 'bob', email: 'bob@example.org' }])
    await applySource(service, declared)
    await setMail('bob', 'robert@example.org')
    await synchronize()
    expect(await listDrift(service, SYSTEM, realm)).toEqual([])
    expect(await planText(service, declared)).toContain('Nothing to do.')
    expect((await findUser('bob'))!.representation).toMatchObject({ email: 'robert@example.org' })
    await setMail('bob', 'bob@example.org')
  })

  test('a declared user who was deleted in the directory is reported, and not created again', async () => {
    const declared = toDocument([{ username: 'carl', realmRoles: ['reader'] }])
    await changeDirectory(directory.url, (connection) => connection.add(CARL, CARL_ENTRY))
    await synchronize()
    await applySource(service, declared)
    await changeDirectory(directory.url, (connection) => connection.delete(CARL))
    const [row] = await service.findRealms([realm])
    await importUserForLogin(service, row!, { name: 'carl', byEmail: false })
    expect(await findUser('carl')).toBeUndefined()
    expect(await planText(service, declared)).toContain('carl')
    await applySource(service, declared)
    expect(await findUser('carl')).toBeUndefined()
  })

  test('an export has the users of a directory with their links, and its plan is empty', async () => {
    const exported = await exportDocument()
    expect(exported).toMatchObject({
      users: expect.arrayContaining([expect.objectContaining({ username: 'ann', federationLink: expect.any(String) })]),
    })
    expect(await planText(service, toRealmSource(exported))).toContain('Nothing to do.')
  })

  test('a document that declares another value for a mapped field is refused', async () => {
    const outcome = await planText(service, toDocument([{ username: 'ann', firstName: 'Other' }])).catch(String)
    expect(outcome).toContain('error-user-attribute-read-only')
  })

  test('an apply writes declared fields of a user to a writable directory, and a plan does not', async () => {
    const readNames = async () => (await readDirectory(directory.url, 'uid=bob,ou=users,dc=example,dc=org'))?.cn
    const writable = { editMode: 'WRITABLE' }
    await applySource(service, toDocument([], writable))
    const declared = toDocument([{ username: 'bob', firstName: 'Robert' }], writable)
    expect(await planText(service, declared)).toContain('Robert')
    expect(await readNames()).toEqual(['Bob'])
    await applySource(service, declared)
    expect(await readNames()).toEqual(['Robert'])
    expect(await planText(service, declared)).toContain('unchanged')
  })
})
