// Plans as text. Each folder of `plans/` is a case, with these files:
//   live.yaml     the realm as an administrator created it; absent: it does not exist, or applied.yaml creates it
//   applied.yaml  the declarations that the source applied last; absent: none
//   drift.yaml    the changes that an administrator made since
//   desired.yaml  the declarations of the source now
//   settings.yaml the settings of the source now; absent: none
//   plan.txt      the plan
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import type { FlatFields } from '../../src/kinds/compare.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import type { SourceContent } from '../../src/reconcile/read/source-content.ts'
import { createObject, deleteObject, updateObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText, withoutDeletionGuards } from '../support/sources.ts'

const { service } = await testService()
const { create } = await testServer()

const CASES = join(import.meta.dirname, 'plans')

/** A change by an administrator: an update, a creation or a deletion. */
interface Drift {
  readonly update?: Key
  readonly create?: KindName
  readonly delete?: Key
  /** The changed fields of an update. */
  readonly set?: FlatFields
  /** The created object. */
  readonly representation?: Representation
}

test.each(readdirSync(CASES))('the plan of the case %s equals its plan.txt', async (name) => {
  const realm = newName()
  const read = (file: string) => {
    const path = join(CASES, name, file)
    return existsSync(path) ? readFileSync(path, 'utf8').replaceAll('acme', realm) : undefined
  }
  const live = read('live.yaml')
  if (live !== undefined) await create('/admin/realms', load(live) as object)
  const applied = read('applied.yaml')
  if (applied !== undefined) await applySource(service, toSource(applied, realm))
  for (const change of load(read('drift.yaml') ?? '[]') as Drift[]) await makeChange(realm, change)
  const settings = load(read('settings.yaml') ?? '{}') as SourceSettings
  const plan = await planText(service, toSource(read('desired.yaml')!, realm, settings))
  await expect(normalize(plan, realm)).toMatchFileSnapshot(join(CASES, name, 'plan.txt'))
})

/** Returns a source that declares a text. */
function toSource(text: string, realm: string, settings: SourceSettings = {}): SourceContent {
  const state = createSource([text], realm)
  const files = state.files.map((file) => ({ ...file, file: 'desired.yaml' }))
  return { ...state, files, settings: { guards: withoutDeletionGuards, ...settings } }
}

async function makeChange(realm: string, drift: Drift): Promise<void> {
  const { update, set, create, representation, delete: deleted } = drift
  if (update) await updateObject(service, ANN, realm, update[0] as KindName, update.slice(1), set!)
  else if (create) await createObject(service, ANN, realm, create, representation!)
  else if (deleted) await deleteObject(service, ANN, realm, deleted[0] as KindName, ...deleted.slice(1))
}

/** Replaces names and timestamps that differ from run to run. */
function normalize(plan: string, realm: string): string {
  const text = plan
    .replaceAll(`${realm}-1.yaml`, 'desired.yaml')
    .replaceAll(realm, 'acme')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return `${text}\n`
}
