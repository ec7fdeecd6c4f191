// Long values in reports: each shows what changed inside, and a cut value says how much is left out.
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FlatFields, flatten, isDeepEqual } from '../../src/kinds/compare.ts'
import { kinds } from '../../src/kinds/index.ts'
import { isList, isObject, type Json, type Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { diffRevisions } from '../../src/reconcile/history/history.ts'
import type { Action, FieldChange } from '../../src/reconcile/model/action.ts'
import { renderMarkdownActions, renderMarkdownOutcome } from '../../src/reconcile/report/markdown-report.ts'
import type { RenderedOutcome } from '../../src/reconcile/report/outcome-text.ts'
import { renderActions, renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { listValueLines, renderLiveChange } from '../../src/reconcile/report/value-text.ts'
import { renderValue, TEXT_LIMITS } from '../../src/reconcile/report/whole-value.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { createObjects } from '../support/filled-realm.ts'
import { updateObject } from '../support/live-objects.ts'
import { createPlanClient } from '../support/plan-client.ts'
import { apply, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { listSettableFields, toDocument } from '../support/samples.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const LONG = 'x'.repeat(10_000)

/** Returns the value with each of its texts after 10,000 characters. */
function lengthen(value: Json, ending: string): Json {
  if (typeof value === 'string') return `${LONG}${ending}`
  if (isList(value)) return value.slice(0, 1).map((element) => lengthen(element, ending))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lengthen(member, ending)]))
}

/** Returns fields with texts, with a value that ends with OLD and one that ends with NEW. */
function listLongFields(name: KindName): [path: string, from: Json, to: Json][] {
  return listSettableFields(name).flatMap(([field, { secret, relation }, [sample]]) => {
    if (secret || relation) return []
    const toFields = (ending: string): FlatFields =>
      flatten(kinds[name], {
        [field]: isObject(sample) ? { ...(lengthen(sample, ending) as object) } : lengthen(sample, ending),
      })
    const [before, after] = [toFields('OLD'), toFields('NEW')]
    return Object.keys(before).flatMap((path) =>
      isDeepEqual(before[path], after[path]) ? [] : [[path, before[path]!, after[path]!] as [string, Json, Json]],
    )
  })
}

const actionOf = (kind: KindName, change: FieldChange): Action => ({
  operation: 'update',
  kind,
  key: ['a'],
  changes: [change],
})

const kindsWithTexts = (Object.keys(kinds) as KindName[]).filter((kind) => listLongFields(kind).length)

describe.each(kindsWithTexts)('%s', (kind) => {
  test.each(listLongFields(kind))(
    'values of %s that differ after 10,000 characters differ in each report',
    (path, from, to) => {
      const actions = [actionOf(kind, { path, from, to, reason: 'declared' })]
      const ignored = { kind, key: ['a'], path, declared: from, live: to }
      const realmPlan = {
        realm: 'a',
        creates: false,
        actions: [],
        ignoredDrift: [ignored],
        notes: [],
        preconditions: [],
      }
      const outcome: RenderedOutcome = { realms: [{ plan: realmPlan, consequences: [] }], notes: [] }
      const reports = [
        renderActions(actions),
        renderMarkdownActions(actions),
        listValueLines(renderLiveChange({ kind, path, from, to })).join('\n'),
        renderOutcome({ ...outcome, realms: [{ ...outcome.realms[0]!, plan: { ...realmPlan, actions } }] }, 'planned'),
        renderMarkdownOutcome(
          { ...outcome, realms: [{ ...outcome.realms[0]!, plan: { ...realmPlan, actions } }] },
          'planned',
        ),
      ]
      for (const report of reports) {
        expect(report).toMatch(/-.*OLD/)
        expect(report).toMatch(/\+.*NEW/)
      }
      const created = [from, to].map((value) => ({
        ...actionOf(kind, { path, from: null, to: value, reason: 'declared' }),
        operation: 'create' as const,
      }))
      expect(renderActions([created[0]!])).not.toBe(renderActions([created[1]!]))
      expect(renderMarkdownActions([created[1]!])).toContain('NEW')
    },
  )
})

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('a', ' ', '\n', '\r\n', '"', '\\', '\u202e', '\\u202e', '{', '😀', '😁'), { maxLength: 400 })
    .map((parts) => parts.join('')),
  fc.constantFrom('none', 'true', '1', ''),
)
const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.json(),
  fc.array(text, { maxLength: 5 }),
  fc.jsonValue().map((json) => JSON.parse(JSON.stringify(json)) as Json),
  fc.constantFrom(null, true, 1),
)

test('two different values never look the same', () => {
  fc.assert(
    fc.property(value, value, fc.boolean(), (first, second, long) => {
      const [from, to] =
        long && typeof first === 'string' && typeof second === 'string'
          ? [LONG + first + LONG, LONG + second + LONG]
          : [first, second]
      fc.pre(!isDeepEqual(from, to))
      const change = renderLiveChange({ kind: 'component', path: 'config.a', from, to })
      if (change.form === 'pair') expect(change.from).not.toBe(change.to)
      else {
        const lines = listValueLines(change)
        const signed = (sign: string) =>
          lines.filter((line) => line.trimStart().startsWith(sign)).map((line) => line.trimStart().slice(1))
        expect(lines.length).toBeGreaterThan(0)
        expect(signed('-').join('\n') === signed('+').join('\n') && signed('-').length > 0).toBe(false)
      }
    }),
  )
})

test('a cut value says how much is left out and how to see it, and differs from every other cut value', () => {
  const [first, second] = [renderValue(`${LONG}1`), renderValue(`${LONG}2`)]
  expect(first).toMatch(/^x{160}… 9,841 more characters \(SHA-256 [0-9a-f]{16}\): --output json shows them$/)
  expect(first).not.toBe(second)
  expect(renderValue('x'.repeat(TEXT_LIMITS.value))).toBe('x'.repeat(TEXT_LIMITS.value))
})

test('texts differ by lines, JSON by paths, long lines by words, and certificates by fingerprint and expiry', () => {
  const change = (from: Json, to: Json) =>
    listValueLines(renderLiveChange({ kind: 'realm', path: 'displayNameHtml', from, to }))
  const lines = Array.from({ length: 40 }, (_, at) => `line number ${at + 1}\n`)
  expect(change(lines.join(''), lines.with(20, 'another line\n').join(''))).toEqual([
    'line 21:',
    '-line number 21',
    '+another line',
  ])
  const profile = (max: number) =>
    JSON.stringify({
      attributes: [
        { name: 'username', note: LONG },
        { name: 'email', validations: { length: { max } } },
      ],
    })
  expect(change(profile(10), profile(20))).toEqual(['attributes[name=email].validations.length.max: 10 → 20'])
  const policy = (host: string) => `${'frame-src https://a.example '.repeat(20)}https://${host}; object-src 'none'`
  expect(change(policy('old.example'), policy('new.example'))).toEqual([
    'character 569:',
    "-…src https://a.example https://old.example; object-src 'none'",
    "+…src https://a.example https://new.example; object-src 'none'",
  ])
  const certificates = ['one', 'two'].map((commonName) => createCertificate(commonName))
  const [first, second] = certificates.map((base64) => {
    const { fingerprint256, validToDate } = new X509Certificate(Buffer.from(base64, 'base64'))
    return `certificate SHA-256 ${fingerprint256}, expires ${validToDate.toISOString().slice(0, 19)}Z`
  })
  expect(change(certificates[0]!, certificates[1]!)).toEqual([`${first} → ${second}`])
})

/** Creates a self-signed certificate in base64. */
function createCertificate(name: string): string {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const period = { from: new Date('2026-01-01'), until: new Date('2036-01-01') }
  return createSelfSignedCertificate({ name, ...keys, ...period }).toString('base64')
}

test('plan, drift and history of a text show the difference after 10,000 characters', async () => {
  await apply({ displayNameHtml: `${LONG} OLD` })
  await updateObject(service, ANN, realm, 'realm', [realm], { displayNameHtml: `${LONG} NEW` })
  expect(await plan({ displayNameHtml: `${LONG} OLD` })).toMatch(/\n +-…x+ NEW\n +\+…x+ OLD\n/)
  const [drift] = await listDrift(service, SYSTEM, realm)
  expect(renderLiveChange({ kind: 'realm', path: drift!.path!, from: drift!.applied, to: drift!.live })).toEqual({
    form: 'lines',
    lines: ['character 10,002:', `-…${'x'.repeat(29)} OLD`, `+…${'x'.repeat(29)} NEW`],
  })
  const actions = await service.read(SYSTEM, realm, (context) => diffRevisions(context, context.realm.revision - 1))
  expect(renderMarkdownActions(actions)).toMatch(/\n-…x+ OLD\n\+…x+ NEW\n/)
})

/** Returns a representation with a long text, for each kind. */
const withLongText: Readonly<Record<KindName, (long: string) => Representation>> = {
  realm: (displayNameHtml) => ({ displayNameHtml }),
  authenticatorConfig: (note) => ({ config: { note } }),
  authenticationFlow: (description) => ({ description }),
  clientScope: (note) => ({ attributes: { note } }),
  client: (note) => ({ attributes: { note } }),
  protocolMapper: (note) => ({ config: { note } }),
  organization: (description) => ({ description }),
  organizationGroup: (description) => ({ description }),
  identityProvider: (note) => ({ config: { note } }),
  identityProviderMapper: (note) => ({ config: { note } }),
  role: (note) => ({ attributes: { note: [note] } }),
  group: (note) => ({ attributes: { note: [note] } }),
  component: (note) => ({ config: { note: [note] } }),
  localization: (note) => ({ texts: { note } }),
  user: (note) => ({ attributes: { note: [note] } }),
  workflow: (message) => ({ steps: [{ uses: 'notify-user', after: '1d', with: { message } }] }),
  requiredAction: (note) => ({ config: { note } }),
  authorizationPolicy: (description) => ({ description }),
  authorizationResource: (displayName) => ({ displayName }),
  authorizationScope: (displayName) => ({ displayName }),
}

test('the JSON of plan, drift and history has the whole values of each kind', async () => {
  const server = await testServer()
  const name = newName()
  const regent = createPlanClient(server, name)
  const toLongDocument = (ending: string) => {
    const toFields = (kind: KindName) => withLongText[kind](LONG + ending)
    return toDocument(name, createObjects('a', toFields), { organizationsEnabled: true, ...toFields('realm') })
  }
  /** Returns the kinds of the items that contain both values. */
  const listKinds = (items: readonly { kind: KindName }[], from: string, to: string) => {
    const complete = items.filter((item) =>
      [from, to].every((ending) => JSON.stringify(item).includes(`${LONG}${ending}`)),
    )
    return [...new Set(complete.map(({ kind }) => kind))].sort()
  }
  const kindNames = (Object.keys(kinds) as KindName[]).sort()
  const journaledKinds = kindNames.filter((kind) => !kinds[kind].isUserData)
  await regent.apply(toLongDocument('OLD'))
  const before = (await server.call('GET', `/regent/v1/history/${name}?max=1`)).body[0].number
  const planned = (await regent.plan(toLongDocument('NEW'))).body
  expect(listKinds(planned.realms[0].plan.actions, 'OLD', 'NEW')).toEqual(kindNames)
  await regent.apply(toLongDocument('NEW'))
  const { body: difference } = await server.call('GET', `/regent/v1/diff/${name}?from=${before}`)
  expect(listKinds(difference, 'OLD', 'NEW')).toEqual(journaledKinds)
  await server.call('POST', `/regent/v1/rollback/${name}`, { body: { revision: before } })
  const { body: drift } = await server.call('GET', `/regent/v1/drift?realm=${name}`)
  expect(listKinds(drift, 'NEW', 'OLD')).toEqual(journaledKinds)
})
