// One realm in each of the forms that Kubernetes may have it in: it is the same realm then.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/kind.ts'
import { parseDocuments, valueDocument } from '../../src/realm-file/document.ts'
import { exportRealm } from '../../src/realm-file/render.ts'
import { resourceNames } from '../../src/realm-file/resource-kinds.ts'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { realmFiles } from '../support/imports.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { allGone, newSpace, type Operated, operate, resource } from '../support/operated.ts'
import { planText, source } from '../support/reconcile.ts'
import { documentOf, world } from '../support/samples.ts'
import { separate } from '../support/separate.ts'
import { newName, testService } from '../support/service.ts'

const documentIn = (file: URL) => parseDocuments(file.pathname, readFileSync(file, 'utf8'))[0]!
const moped = new URL('moped.json', realmFiles)
const benchmark = new URL('benchmark.yaml', realmFiles)

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: Operated
  beforeAll(async () => {
    ;({ service } = await testService())
    kubernetes = await openKubernetes()
    operated = operate(service)
  }, 60_000)
  afterAll(async () => {
    await kubernetes?.leave()
    if (kubernetes) await allGone(kubernetes)
    await operated?.stop()
  }, 60_000)

  /** All of it, but for what is made anew for each realm. */
  const exported = async (realm: string) => {
    const all = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true }))
    return JSON.parse(JSON.stringify(all).replaceAll(realm, '{realm}'))
  }

  test.skipIf(!existsSync(moped))('a realm, and the same as separate resources', async () => {
    const whole = documentIn(moped).value as Representation
    const [one, other] = [newName(), newName()]
    const space = await newSpace(kubernetes)
    const { realm: _, ...spec } = whole
    const realm = resource('Realm', 'whole', { ...spec, realm: one })
    const parts = separate(valueDocument('moped', { ...whole, realm: other }), 'parts')
    for (const each of [realm, ...parts]) await space.apply(each)
    for (const each of [realm, ...parts]) await space.stands(each, 'True')
    expect(await exported(other)).toEqual(await exported(one))
  })

  test('what every kind holds is live as a resource of its own', async () => {
    const realm = newName()
    const whole = documentOf(realm, world()) as Representation
    const parts = separate(valueDocument('world', whole), 'world')
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(new Set(Object.values(kinds).map((kind) => resourceNames(kind)[0])))
    const space = await newSpace(kubernetes)
    for (const each of parts) await space.apply(each)
    for (const each of parts) await space.stands(each, 'True')
    expect(await planText(service, source([whole], 'world.json'))).toContain('Nothing to do.')
  })

  test.skipIf(!existsSync(benchmark))('a large realm', async () => {
    const realm = newName()
    const whole = { ...(documentIn(benchmark).value as Representation), realm }
    const space = await newSpace(kubernetes)
    const one = resource('Realm', 'benchmark', whole)
    await space.apply(one)
    await space.stands(one, 'True')
    expect(await planText(service, source([whole], 'benchmark.yaml'))).toContain('Nothing to do.')
  })
})
