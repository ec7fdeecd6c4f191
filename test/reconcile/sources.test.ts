// Sources: what is read from files, and that it is the same after it has travelled.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/render.ts'
import { readFileSource } from '../../src/reconcile/sources/file.ts'
import { unpackSource } from '../../src/reconcile/sources/text.ts'
import { SYSTEM } from '../../src/service/service.ts'
import { applyAs, planText } from '../support/reconcile.ts'
import { newName, testService } from '../support/service.ts'

const folder = await mkdtemp(join(tmpdir(), 'regent-sources-'))
afterAll(() => rm(folder, { recursive: true }))
const read = (path: string, env = {}) => readFileSource(join(folder, path), { env, allowed: () => true })

test('a folder is one source: its YAML and JSON files by name, sub-folders too, hidden ones not', async () => {
  await mkdir(join(folder, 'many', 'deep'), { recursive: true })
  await mkdir(join(folder, 'many', '.git'), { recursive: true })
  await writeFile(join(folder, 'many', 'b.yaml'), 'realm: b\n---\nrealm: c\n')
  await writeFile(join(folder, 'many', 'a.json'), '[{"realm": "a"}]')
  await writeFile(join(folder, 'many', 'deep', 'd.yml'), 'realm: d\n')
  await writeFile(join(folder, 'many', '.git', 'x.yaml'), 'realm: x\n')
  await writeFile(join(folder, 'many', 'README.md'), '# no realm\n')
  const { documents } = await read('many')
  expect(documents.map(({ value }) => (value as { realm: string }).realm)).toEqual(['a', 'b', 'c', 'd'])
})

test('a source that has travelled says the same, at the same places, and no variable is looked up again', async () => {
  const text = 'realm: t\ndisplayName: $(env:NAME)\nattributes:\n  literal: $$(env:NAME)\n  nested: $(env:TRICK)\n'
  await writeFile(join(folder, 'travel.yaml'), text)
  const source = await read('travel.yaml', { NAME: 'Ann', TRICK: '$(env:NAME)' })
  const wire = JSON.parse(JSON.stringify({ name: source.name, revision: source.revision, files: source.files }))
  const [arrived] = unpackSource(wire).documents
  expect(arrived!.value).toEqual(source.documents[0]!.value)
  expect(arrived!.value).toMatchObject({
    displayName: 'Ann',
    attributes: { literal: '$(env:NAME)', nested: '$(env:NAME)' },
  })
  expect(arrived!.locate(['attributes', 'nested'])).toMatchObject({ line: 5, column: 3 })
})

test('a text that looks like a variable survives export and apply', async () => {
  const { service } = await testService()
  const realm = newName()
  await writeFile(join(folder, 'escape.yaml'), `realm: ${realm}\ndisplayName: costs $$(env:PRICE)\n`)
  const source = await read('escape.yaml')
  await applyAs(service, source)
  const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context))
  expect(exported.displayName).toBe('costs $$(env:PRICE)')
  await writeFile(join(folder, 'exported.json'), JSON.stringify(exported))
  expect(await planText(service, await read('exported.json'))).toContain('Nothing to do.')
})
