// Values of fields that are no secrets, and that are encrypted in their file: the inventory seals them, and only the admin API shows them.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Json } from '../../src/kinds/json.ts'
import { markVariables } from '../../src/realm-file/yaml/document.ts'
import { findAcceptedDrift } from '../../src/reconcile/accept/accept.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { explainObject } from '../../src/reconcile/history/explain-object.ts'
import { diffRevisions, rollback } from '../../src/reconcile/history/history.ts'
import { inspectObject } from '../../src/reconcile/inspect/inspect-object.ts'
import { compareRealms } from '../../src/reconcile/merge/compare-realms.ts'
import { readDesiredRealms } from '../../src/reconcile/merge/desired-realm.ts'
import type { SourceContent } from '../../src/reconcile/read/source-content.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import type { Context } from '../../src/service/context/context.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows } from '../support/database-rows.ts'
import { updateObject } from '../support/live-objects.ts'
import {
  apply,
  exportDocument,
  getLive,
  plan,
  realm,
  service,
  toRealmSource,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource, planText } from '../support/sources.ts'

useNewRealmPerTest()

/** The paths of texts that begin so are encrypted in the file. */
const HIDDEN = /^hidden/

/** Returns a source whose document has the values, and which is read as if SOPS had encrypted those that begin with `hidden`. */
function encrypt(value: Readonly<Record<string, Json>>, settings: SourceContent['settings'] = {}): SourceContent {
  const pointers: string[] = []
  const template = replaceHidden(value, '', (pointer) => pointers.push(pointer))
  const source = toRealmSource(template as object)
  const [document] = source.documents
  return {
    ...source,
    settings: { ...source.settings, ...settings },
    revision: createHash('sha256')
      .update(JSON.stringify([value, settings]))
      .digest('hex'),
    documents: [markVariables(document!, { realm, ...value }, pointers)],
  }
}

function replaceHidden(value: Json, pointer: string, replaced: (pointer: string) => void): Json {
  if (typeof value === 'string' && HIDDEN.test(value)) {
    replaced(pointer)
    return `ENC[AES256_GCM,data:${pointer},iv:x,tag:x,type:str]`
  }
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element, at) => replaceHidden(element, `${pointer}/${at}`, replaced))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaceHidden(member!, `${pointer}/${name}`, replaced)]),
  )
}

const DECLARED = {
  displayName: 'hidden name',
  attributes: { color: 'hidden color', size: 'large' },
  clients: [{ clientId: 'web', description: 'hidden text', redirectUris: ['hidden://one/*'] }],
}

const read = <Result>(run: (context: Context) => Promise<Result>) => service.read(SYSTEM, realm, run)
const readRevision = () => read(async (context) => context.realm.revision)
const readInventory = async () => (await dumpRows(service, realm)).inventory!.join('\n')
const changeDescription = (description: string | null) =>
  updateObject(service, ANN, realm, 'client', ['web'], { description })

test('the inventory seals encrypted values, and a plan of the same values is empty and executes at most two statements', async () => {
  await applySource(service, encrypt(DECLARED))
  const inventory = await readInventory()
  expect(inventory).not.toContain('hidden')
  expect(inventory.match(/sealed:/g)).toHaveLength(4)
  expect(inventory).toContain('large')
  expect(await planText(service, encrypt(DECLARED))).toContain('Nothing to do.')
  const { statements } = await testService()
  expect((await statements(() => applySource(service, encrypt(DECLARED)))).length).toBeLessThanOrEqual(2)
  expect((await getLive('client', 'web')).representation).toMatchObject({ description: 'hidden text' })
})

test('a value that its file encrypts from now on is sealed by the next apply, and one that it no longer encrypts is not', async () => {
  await apply({ displayName: 'hidden name' })
  expect(await readInventory()).toContain('hidden name')
  await applySource(service, encrypt({ displayName: 'hidden name' }))
  expect(await readInventory()).not.toContain('hidden name')
  await apply({ displayName: 'hidden name' })
  expect(await readInventory()).toContain('hidden name')
})

test('drift of an encrypted value is found and corrected, and nothing that lists it shows a value', async () => {
  await applySource(service, encrypt(DECLARED))
  const revision = await readRevision()
  await changeDescription('hidden change')
  const drift = await listDrift(service, SYSTEM, realm)
  expect(drift).toEqual([expect.objectContaining({ path: 'description', encrypted: true, policy: 'correct' })])
  const explanation = await read((context) => explainObject(context, 'clients/web'))
  expect(explanation.fields).toContainEqual(expect.objectContaining({ path: 'description', encrypted: true }))
  const differences = await read((context) => diffRevisions(context, revision))
  expect(differences[0]?.changes).toEqual([expect.objectContaining({ path: 'description', to: '**********' })])
  const accepted = await read((context) => findAcceptedDrift(context, { paths: [], users: false }))
  expect(accepted.edits).toEqual([expect.objectContaining({ path: 'description', encrypted: true })])
  const outputs = [
    ...[drift, explanation, differences, accepted],
    await read((context) => inspectObject(context, 'client', ['web'])),
    await exportDocument(),
    await exportDocument({ full: true }),
    await rollback(service, SYSTEM, { realm, revision, dryRun: true }),
    await planSources(service, SYSTEM, [encrypt(DECLARED)]),
    await planText(service, encrypt(DECLARED)),
  ]
  for (const output of outputs) expect(JSON.stringify(output)).not.toContain('hidden')
  expect(outputs.at(-1)).toContain('(encrypted value changes)')
  expect(JSON.stringify(outputs)).toContain('the redirect URI (encrypted) has a wildcard')
  await applySource(service, encrypt(DECLARED))
  expect((await getLive('client', 'web')).representation.description).toBe('hidden text')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
})

test('an export omits encrypted values and retains the others, and has all of them with its secrets', async () => {
  await applySource(service, encrypt(DECLARED))
  const exported = await exportDocument()
  expect(exported).toMatchObject({ attributes: { size: 'large' }, clients: [{ clientId: 'web' }] })
  expect(exported).not.toHaveProperty('displayName')
  expect(await exportDocument({ secrets: true })).toMatchObject({
    displayName: 'hidden name',
    attributes: { color: 'hidden color' },
  })
})

test('a rollback restores an encrypted value, and the history does not show it', async () => {
  await applySource(service, encrypt(DECLARED))
  const revision = await readRevision()
  await changeDescription('hidden change')
  await rollback(service, SYSTEM, { realm, revision })
  expect((await getLive('client', 'web')).representation.description).toBe('hidden text')
  expect((await dumpRows(service, realm)).history!.join('\n')).not.toContain('hidden')
})

test('a plan masks the encrypted value of a field that the source no longer declares, or declares in plain text', async () => {
  await applySource(service, encrypt(DECLARED))
  const { displayName: _, ...rest } = DECLARED
  expect(await planText(service, encrypt(rest))).toMatch(/displayName: +\(encrypted\) → none/)
  const inPlainText = encrypt({ ...DECLARED, displayName: 'Public' })
  expect(await planText(service, inPlainText)).toMatch(/displayName: +\(encrypted value changes\)/)
  for (const source of [encrypt(rest), inPlainText])
    expect(JSON.stringify(await planSources(service, SYSTEM, [source]))).not.toContain('hidden name')
  await applySource(service, encrypt(rest))
  expect((await getLive('realm', realm)).representation.displayName).toBeUndefined()
})

test('reported drift of an encrypted value is sealed in the inventory, and stays reported until it is resolved', async () => {
  const source = () => encrypt(DECLARED, { drift: [{ policy: 'report' }] })
  await applySource(service, source())
  await changeDescription('hidden change')
  expect(await planText(service, source())).toMatch(/description was changed by .*; reported only/)
  expect(JSON.stringify(await applySource(service, source()))).not.toContain('hidden')
  expect(await readInventory()).not.toContain('hidden')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([expect.objectContaining({ path: 'description' })])
  await changeDescription('hidden text')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
})

test('a declared text that looks like a sealed one is applied as it is', async () => {
  const declared = { displayName: 'sealed:0:text' }
  await apply(declared)
  expect((await getLive('realm', realm)).representation.displayName).toBe('sealed:0:text')
  expect(await plan(declared)).toContain('Nothing to do.')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
})

test('a source that refuses changes by others refuses that of an encrypted value, and permits the declared value', async () => {
  await applySource(service, encrypt(DECLARED, { ownership: 'refuse' }))
  await expect(changeDescription('hidden change')).rejects.toThrow('is managed by the source')
  await changeDescription('hidden text')
})

test('a refusal does not quote encrypted values', async () => {
  const refused: Record<string, Json>[] = [
    { browserFlow: 'hidden-flow' },
    { passwordPolicy: 'hiddenPolicy(1)' },
    { clients: [{ clientId: 'web', defaultClientScopes: ['hidden-scope'] }] },
  ]
  for (const value of refused) {
    const error: unknown = await applySource(service, encrypt(value)).then(
      () => 'applied',
      (reason: unknown) => reason,
    )
    const text = error instanceof ActionError ? [error.message, ...error.problems].map(String).join() : String(error)
    expect(text, JSON.stringify(value)).toContain('(encrypted)')
    expect(text).not.toContain('hidden')
  }
})

test('a comparison of documents masks encrypted values', () => {
  const read = (value: Readonly<Record<string, Json>>) => {
    const [desired] = readDesiredRealms(encrypt(value).documents, { vault: service.vault })
    return desired!
  }
  const [before, after] = [read(DECLARED), read({ ...DECLARED, displayName: 'hidden other', clients: [] })]
  const created = read({ ...DECLARED, clients: [...DECLARED.clients, { clientId: 'new', description: 'hidden new' }] })
  const text = JSON.stringify([
    compareRealms(before, after),
    compareRealms(after, before),
    compareRealms(before, created),
  ])
  expect(text).toContain('"path":"displayName"')
  expect(text).toContain('"key":["new"]')
  expect(text).not.toContain('hidden')
})
