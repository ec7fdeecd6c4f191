// A canary in every secret of every kind, put in by documents and over REST: it is seen nowhere but where it belongs.
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
import { toAddress, createBody, createFilledRealm, createObjects } from './support/addresses.ts'
import { updateObject } from './support/changes.ts'
import { ANN, planText, createSource } from './support/reconcile.ts'
import { dumpRows, plantFailure } from './support/rows.ts'
import { toDocument, toKey, createSampleObject } from './support/samples.ts'
import { testServer } from './support/server.ts'
import { newService, newName, testService } from './support/service.ts'

const { adminToken } = await testServer()
const { service } = await testService()

const CANARY = 'canary-9d41'
const KEPT = { adminEventsEnabled: true, adminEventsDetailsEnabled: true }

/** What the server writes while it says everything. */
const log: string[] = []
const server = await createServer(service, {
  logLevel: 'trace',
  logTo: { write: (line) => log.push(line) },
  metrics: true,
})
afterAll(() => server.close())

/** The canaries in a text. */
const found = (text: string) => [...new Set(text.match(/canary-9d41[\w./-]*/g))]

/** The whole answer as text, with its headers. */
async function ask(
  method: string,
  url: string,
  body?: unknown,
): Promise<{ status: number; text: string; whole: string }> {
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
  return { status: statusCode, text, whole: `${JSON.stringify(headers)} ${text}` }
}

/** The secrets of a kind with canaries that say where they were put in; what else the fields need, too. */
function secretsOf(kind: KindName, round: string): Representation {
  const own = kind === 'realm' ? {} : createSampleObject(kind, 'own').representation
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
          [name, { ...(own[name] as Representation | undefined), ...mail(name), ...Object.fromEntries(settings) }],
        ]
      },
    ),
  )
}

const credentials = (secret: string): Json => [
  { type: 'password', value: secret },
  { type: 'otp', secretData: JSON.stringify({ value: secret }), credentialData: '{}' },
]

/** Keycloak: a server for mail needs an address. */
const mail = (field: string) => (field === 'smtpServer' ? { host: 'mail.example.org', from: 'sso@example.org' } : {})

const withSecrets = (Object.keys(kinds) as KindName[]).filter((kind) => Object.keys(secretsOf(kind, '')).length)

/** A realm with an object of every kind, canaries in all secrets. */
const document = (realm: string, round: string) =>
  toDocument(
    realm,
    createObjects('own', (kind) => secretsOf(kind, round)),
    { ...KEPT, ...secretsOf('realm', round) },
  )

const sent = (name: string, value: object) => ({
  name,
  revision: '1',
  files: [{ file: 'realm.yaml', text: dump(value, { noRefs: true }), values: [{}] }],
})

test('none is in what is said of documents', async () => {
  const realm = newName()
  for (const round of ['first', 'second']) {
    const body = sent(realm, document(realm, round))
    expect(found(await planText(service, createSource([document(realm, round)], realm)))).toEqual([])
    for (const what of ['plan', 'apply', 'plan']) {
      const { status, whole } = await ask('POST', `/regent/v1/${what}`, body)
      expect({ status, found: found(whole) }, `${what} ${round}`).toEqual({ status: 200, found: [] })
    }
  }
  for (const kind of withSecrets) {
    const key = kind === 'realm' ? [realm] : toKey(kind, 'own')
    const secrets = kind === 'user' ? {} : flatten(kinds[kind], secretsOf(kind, 'theirs'))
    await updateObject(service, ANN, realm, kind, key, secrets)
  }
  const drift = await ask('GET', `/regent/v1/drift?realm=${realm}`)
  expect(JSON.parse(drift.text).length).toBeGreaterThan(withSecrets.length)
  const back = await ask('POST', '/regent/v1/plan', sent(realm, document(realm, 'second')))
  const exports = [`/regent/v1/export/${realm}`, `/regent/v1/export/${realm}?full=true&ids=true`]
  for (const { whole } of [drift, back, ...(await Promise.all(exports.map((url) => ask('GET', url))))])
    expect(found(whole)).toEqual([])
  const shown = found((await ask('GET', `/regent/v1/export/${realm}?secrets=true`)).text)
  for (const kind of withSecrets)
    expect(
      shown.some((one) => one.includes(`.${kind}.`)),
      kind,
    ).toBe(true)
})

test('none is in what is said of documents that are wrong', async () => {
  for (const kind of withSecrets) {
    for (const [how, spoil] of Object.entries(spoilt)) {
      const realm = newName()
      const fields = (own: KindName) => (own === kind ? spoil(secretsOf(kind, how)) : {})
      const { status, whole } = await ask(
        'POST',
        '/regent/v1/apply',
        sent(realm, toDocument(realm, createObjects('own', fields), fields('realm'))),
      )
      expect({ status, found: found(whole) }, `${kind}: ${how}`).toEqual({ status: 400, found: [] })
    }
  }
})

/** Ways in which a representation with secrets may be wrong. */
const spoilt: Readonly<Record<string, (secrets: Representation) => Representation>> = {
  'an unknown field beside it': (secrets) => ({ ...secrets, [`${Object.keys(secrets)[0]}x`]: secrets }),
  'another type': (secrets) => mapped(secrets, (value) => [{ [String(value)]: value }]),
}

/** The object with every text in it changed. */
function mapped(value: Representation, to: (text: Json) => Json): Representation {
  const changed = (one: Json): Json => {
    if (one === null || typeof one !== 'object') return typeof one === 'string' ? to(one) : one
    return isList(one) ? one.map(changed) : mapped(one, to)
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one)]))
}

/** Operations that show secrets, as those of the reference server do. */
const showing: Readonly<Record<string, string>> = {
  listClients: 'who may view clients sees their secrets and all of their attributes',
  getClientsClientUuid: 'the same',
  getClientSecret: 'the same',
  getClientCertificate: 'the same',
}

test('none is in answers of REST, but where the reference server shows it', async () => {
  const realm = await createFilledRealm('own', (kind) => ({ ...secretsOf(kind, 'document'), ...(kind === 'realm' && KEPT) }))
  // REST takes components in another form than documents: those that are stated here are refused.
  const accepted = new Set<KindName>(['component'])
  for (const operation of operations) {
    const kind = operation.body?.kind?.name
    if (!kind || !withSecrets.includes(kind)) continue
    for (const [how, body] of bodies(operation, kind)) {
      const { status, whole } = await ask(operation.method, toAddress(operation.path, realm), body)
      expect({ found: found(whole), fault: status >= 500 }, `${operation.operationId}: ${how} ${status}`).toEqual({
        found: [],
        fault: false,
      })
      if (status < 300) accepted.add(kind)
    }
  }
  const taken = new Set(
    operations.map(({ body }) => body?.kind?.name).filter((kind) => kind && withSecrets.includes(kind)),
  )
  expect([...accepted].sort()).toEqual([...taken].sort())
  const leaks: string[] = []
  for (const { method, path, operationId } of operations) {
    if (method !== 'GET' || path === '/admin/realms' || operationId in showing) continue
    const { whole } = await ask('GET', toAddress(path, realm))
    leaks.push(...found(whole).map((one) => `${operationId} ${one}`))
  }
  expect(leaks).toEqual([])
})

function bodies(operation: Operation, kind: KindName): [how: string, body: unknown][] {
  const label = operation.method === 'PUT' ? 'own' : `new-${operation.operationId}`
  const secrets = secretsOf(kind, operation.operationId)
  const right = createBody(operation, label, secrets)
  const wrong = Object.entries(spoilt).map(([how, spoil]): [string, unknown] => [how, spoil(right as Representation)])
  return [
    ['right', right],
    ['again', right],
    ...(Array.isArray(right) ? [] : wrong),
    ['cut', JSON.stringify(right).slice(0, -1)],
  ]
}

test.each(Object.values(kinds))('none is in what events show of a $title and of what is in it', (kind) => {
  expect(found(JSON.stringify(maskRepresentation(kind, withEverySecret(kind))))).toEqual([])
})

/** A representation with the canary in every secret, those of children and of what is not managed yet included. */
function withEverySecret(kind: Kind): Representation {
  const children = Object.entries(kind.children).map(([field, child]): [string, Json] => {
    const list = [withEverySecret(kinds[child])]
    return [field, kinds[child].parentOptional ? { realm: list, client: { shop: list } } : list]
  })
  return { ...canaries(kind.fields), ...Object.fromEntries(children) }
}

function canaries(fields: Readonly<Record<string, Field>>): Representation {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { secret, type, members }]): [string, Json][] => {
      if (members) return [[name, [canaries(members)]]]
      if (!secret) return []
      const keys = secret === true ? ['any'] : secret
      return [[name, type === 'map' ? Object.fromEntries(keys.map((key) => [key, CANARY])) : CANARY]]
    }),
  )
}

test('none is in the store in the clear, nor in what anybody may read', async () => {
  const tables = await dumpRows(service)
  expect(tables.admin_event!.filter((row) => row.includes('**********')).length).toBeGreaterThan(withSecrets.length)
  for (const [table, rows] of Object.entries(tables)) expect(found(rows.join('\n')), table).toEqual([])
  for (const url of ['/metrics', '/openapi.json', '/']) expect(found((await ask('GET', url)).whole), url).toEqual([])
})

test('none is in the log of what failed in the database', async () => {
  const fresh = await newService()
  const own = await createServer(fresh, {
    logTo: { write: (line) => log.push(line) },
    logLevel: 'trace',
    caller: SYSTEM,
  })
  try {
    await fresh.createRealm(SYSTEM, { representation: { realm: 'broken-realm' } }, async () => {})
    await plantFailure(fresh, 'broken')
    const payload = { clientId: 'broken', ...secretsOf('client', 'failed') }
    const answer = await own.inject({ method: 'POST', url: '/admin/realms/broken-realm/clients', payload })
    expect(answer.statusCode).toBe(500)
    expect(found(answer.body)).toEqual([])
    expect(log.join()).toContain('planted failure')
    expect(found(log.join())).toEqual([])
  } finally {
    await own.close()
    await fresh.close()
  }
})
