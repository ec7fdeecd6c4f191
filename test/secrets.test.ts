// Writes a canary into every secret of every kind, by documents and by REST, and checks that no output shows it.
import { dump } from 'js-yaml'
import { afterAll, expect, test } from 'vitest'
import { operations } from '../src/http/admin/index.ts'
import type { Operation } from '../src/http/operation.ts'
import { createServer } from '../src/http/server.ts'
import { flatten } from '../src/kinds/compare.ts'
import type { Field } from '../src/kinds/fields.ts'
import { kinds } from '../src/kinds/index.ts'
import { isList, type Json, type Representation } from '../src/kinds/json.ts'
import type { Kind, KindName } from '../src/kinds/kind.ts'
import { maskRepresentation } from '../src/kinds/mask-representation.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { dumpRows, plantFailure } from './support/database-rows.ts'
import { createBody, createFilledRealm, createObjects, toAddress } from './support/filled-realm.ts'
import { updateObject } from './support/live-objects.ts'
import { createSampleObject, toDocument, toKey } from './support/samples.ts'
import { testServer } from './support/server.ts'
import { newName, openNewService, testService } from './support/service.ts'
import { ANN, createSource, planText } from './support/sources.ts'

const { adminToken } = await testServer()
const { service } = await testService()

const CANARY = 'canary-9d41'
const STORES_EVENTS = { adminEventsEnabled: true, adminEventsDetailsEnabled: true }

/** Lines that the server logs at level trace. */
const log: string[] = []
const server = await createServer(service, {
  logLevel: 'trace',
  logTo: { write: (line) => log.push(line) },
  metrics: true,
})
afterAll(() => server.close())

/** Returns the canaries in a text. */
const findCanaries = (text: string) => [...new Set(text.match(/canary-9d41[\w./-]*/g))]

/** Sends a request. `complete` is the text of headers and body. */
async function request(
  method: string,
  url: string,
  body?: unknown,
): Promise<{ status: number; text: string; complete: string }> {
  const {
    statusCode,
    headers,
    body: text,
  } = await server.inject({
    method: method as 'GET',
    url,
    headers: {
      authorization: `Bearer ${await adminToken()}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: statusCode, text, complete: `${JSON.stringify(headers)} ${text}` }
}

/** Returns the secret fields of a kind with canaries that name kind, field and round, and the required fields. */
function createSecrets(kind: KindName, round: string): Representation {
  const sampleFields = kind === 'realm' ? {} : createSampleObject(kind, 'own').representation
  return Object.fromEntries(
    Object.entries(kinds[kind].fields).flatMap(
      ([name, { secret, type, members, computed, schema }]): [string, Json][] => {
        if (!secret || computed) return []
        const canary = `${CANARY}.${kind}.${name}.${round}`
        if (members) return [[name, credentials(canary)]]
        if (type !== 'map' || secret === true) return [[name, canary]]
        const lists = !schema.safeParse({ key: canary }).success
        const settings = secret.map((key) => [key, lists ? [`${canary}.${key}`] : `${canary}.${key}`])
        return [
          [
            name,
            {
              ...(sampleFields[name] as Representation | undefined),
              ...getRequiredSettings(name),
              ...Object.fromEntries(settings),
            },
          ],
        ]
      },
    ),
  )
}

const credentials = (secret: string): Json => [
  { type: 'password', value: secret },
  { type: 'otp', secretData: JSON.stringify({ value: secret }), credentialData: '{}' },
]

/** Keycloak: settings of a mail server need a sender. */
const getRequiredSettings = (field: string) =>
  field === 'smtpServer' ? { host: 'mail.example.org', from: 'sso@example.org' } : {}

const kindsWithSecrets = (Object.keys(kinds) as KindName[]).filter(
  (kind) => Object.keys(createSecrets(kind, '')).length,
)

/** Returns a realm with an object of every kind, and canaries in all secrets. */
const createDocument = (realm: string, round: string) =>
  toDocument(
    realm,
    createObjects('own', (kind) => createSecrets(kind, round)),
    { ...STORES_EVENTS, ...createSecrets('realm', round) },
  )

const toSourceBody = (name: string, value: object) => ({
  name,
  revision: '1',
  files: [{ file: 'realm.yaml', text: dump(value, { noRefs: true }), values: [{}] }],
})

test('plans, drift, and exports without secrets show no secret', async () => {
  const realm = newName()
  for (const round of ['first', 'second']) {
    const body = toSourceBody(realm, createDocument(realm, round))
    expect(findCanaries(await planText(service, createSource([createDocument(realm, round)], realm)))).toEqual([])
    for (const operation of ['plan', 'apply', 'plan']) {
      const { status, complete } = await request('POST', `/regent/v1/${operation}`, body)
      expect({ status, canaries: findCanaries(complete) }, `${operation} ${round}`).toEqual({
        status: 200,
        canaries: [],
      })
    }
  }
  for (const kind of kindsWithSecrets) {
    const key = kind === 'realm' ? [realm] : toKey(kind, 'own')
    const secrets = kind === 'user' ? {} : flatten(kinds[kind], createSecrets(kind, 'theirs'))
    await updateObject(service, ANN, realm, kind, key, secrets)
  }
  const drift = await request('GET', `/regent/v1/drift?realm=${realm}`)
  expect(JSON.parse(drift.text).length).toBeGreaterThan(kindsWithSecrets.length)
  const back = await request('POST', '/regent/v1/plan', toSourceBody(realm, createDocument(realm, 'second')))
  const exports = [`/regent/v1/export/${realm}`, `/regent/v1/export/${realm}?full=true&ids=true`]
  for (const { complete } of [drift, back, ...(await Promise.all(exports.map((url) => request('GET', url))))])
    expect(findCanaries(complete)).toEqual([])
  const exported = findCanaries((await request('GET', `/regent/v1/export/${realm}?secrets=true`)).text)
  for (const kind of kindsWithSecrets)
    expect(
      exported.some((canary) => canary.includes(`.${kind}.`)),
      kind,
    ).toBe(true)
})

test('errors in documents show no secret', async () => {
  for (const kind of kindsWithSecrets) {
    for (const [mistake, spoil] of Object.entries(mistakes)) {
      const realm = newName()
      const fields = (otherKind: KindName) => (otherKind === kind ? spoil(createSecrets(kind, mistake)) : {})
      const { status, complete } = await request(
        'POST',
        '/regent/v1/apply',
        toSourceBody(realm, toDocument(realm, createObjects('own', fields), fields('realm'))),
      )
      expect({ status, canaries: findCanaries(complete) }, `${kind}: ${mistake}`).toEqual({ status: 400, canaries: [] })
    }
  }
})

/** Mistakes in a representation with secrets. */
const mistakes: Readonly<Record<string, (secrets: Representation) => Representation>> = {
  'an unknown field beside it': (secrets) => ({ ...secrets, [`${Object.keys(secrets)[0]}x`]: secrets }),
  'another type': (secrets) => mapTexts(secrets, (value) => [{ [String(value)]: value }]),
}

/** Returns the object with all its texts replaced. */
function mapTexts(value: Representation, to: (text: Json) => Json): Representation {
  const changed = (member: Json): Json => {
    if (member === null || typeof member !== 'object') return typeof member === 'string' ? to(member) : member
    return isList(member) ? member.map(changed) : mapTexts(member, to)
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, changed(member)]))
}

/** Operations that show secrets, as in Keycloak. */
const showsSecrets: Readonly<Record<string, string>> = {
  listClients: 'administrators who may view clients see their secrets and all attributes',
  getClientsClientUuid: 'the same',
  listClientsV2: 'administrators who may change clients see their secrets',
  getClientV2: 'the same',
  getClientSecret: 'the same',
  getClientCertificate: 'the same',
  getClientInstallation: 'adapters need the secret; administrators who may only view clients do not see it',
}

test('responses of REST show no secret, unless Keycloak shows it', async () => {
  const realm = await createFilledRealm('own', (kind) => ({
    ...createSecrets(kind, 'document'),
    ...(kind === 'realm' && STORES_EVENTS),
  }))
  // Components have another form in REST than in documents, so these are refused.
  const accepted = new Set<KindName>(['component'])
  for (const operation of operations) {
    const kind = operation.body?.kind?.name
    if (!kind || !kindsWithSecrets.includes(kind)) continue
    for (const [variant, body] of createBodies(operation, kind)) {
      const { status, complete } = await request(operation.method, toAddress(operation.path, realm), body)
      expect(
        { canaries: findCanaries(complete), fault: status >= 500 },
        `${operation.operationId}: ${variant} ${status}`,
      ).toEqual({
        canaries: [],
        fault: false,
      })
      if (status < 300) accepted.add(kind)
    }
  }
  const written = new Set(
    operations.map(({ body }) => body?.kind?.name).filter((kind) => kind && kindsWithSecrets.includes(kind)),
  )
  expect([...accepted].sort()).toEqual([...written].sort())
  const leaks: string[] = []
  for (const { method, path, operationId } of operations) {
    if (method !== 'GET' || path === '/admin/realms' || operationId in showsSecrets) continue
    const { complete } = await request('GET', toAddress(path, realm))
    leaks.push(...findCanaries(complete).map((canary) => `${operationId} ${canary}`))
  }
  expect(leaks).toEqual([])
})

function createBodies(operation: Operation, kind: KindName): [variant: string, body: unknown][] {
  const label = operation.method === 'PUT' ? 'own' : `new-${operation.operationId}`
  const secrets = createSecrets(kind, operation.operationId)
  const right = createBody(operation, label, secrets)
  const invalid = Object.entries(mistakes).map(([mistake, spoil]): [string, unknown] => [
    mistake,
    spoil(right as Representation),
  ])
  return [
    ['right', right],
    ['again', right],
    ...(Array.isArray(right) ? [] : invalid),
    ['cut', JSON.stringify(right).slice(0, -1)],
  ]
}

test.each(Object.values(kinds))('admin events of a $title and its children show no secret', (kind) => {
  expect(findCanaries(JSON.stringify(maskRepresentation(kind, createAllSecrets(kind))))).toEqual([])
})

/** Returns a representation with the canary in every secret, including children. */
function createAllSecrets(kind: Kind): Representation {
  const children = Object.entries(kind.children).map(([field, child]): [string, Json] => {
    const list = [createAllSecrets(kinds[child])]
    return [field, kinds[child].parentOptional ? { realm: list, client: { shop: list } } : list]
  })
  return { ...createCanaries(kind.fields), ...Object.fromEntries(children) }
}

function createCanaries(fields: Readonly<Record<string, Field>>): Representation {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { secret, type, members }]): [string, Json][] => {
      if (members) return [[name, [createCanaries(members)]]]
      if (!secret) return []
      const keys = secret === true ? ['any'] : secret
      return [[name, type === 'map' ? Object.fromEntries(keys.map((key) => [key, CANARY])) : CANARY]]
    }),
  )
}

test('the store has no secret in plain text, and public pages show none', async () => {
  const tables = await dumpRows(service)
  expect(tables.admin_event!.filter((row) => row.includes('**********')).length).toBeGreaterThan(
    kindsWithSecrets.length,
  )
  for (const [table, rows] of Object.entries(tables)) expect(findCanaries(rows.join('\n')), table).toEqual([])
  for (const url of ['/metrics', '/openapi.json', '/'])
    expect(findCanaries((await request('GET', url)).complete), url).toEqual([])
})

test('the log of a database error shows no secret', async () => {
  const newService = await openNewService()
  const newServer = await createServer(newService, {
    logTo: { write: (line) => log.push(line) },
    logLevel: 'trace',
    caller: SYSTEM,
  })
  try {
    await newService.createRealm(SYSTEM, { representation: { realm: 'broken-realm' } }, async () => {})
    await plantFailure(newService, 'broken')
    const payload = { clientId: 'broken', ...createSecrets('client', 'failed') }
    const response = await newServer.inject({ method: 'POST', url: '/admin/realms/broken-realm/clients', payload })
    expect(response.statusCode).toBe(500)
    expect(findCanaries(response.body)).toEqual([])
    expect(log.join()).toContain('planted failure')
    expect(findCanaries(log.join())).toEqual([])
  } finally {
    await newServer.close()
    await newService.close()
  }
})
