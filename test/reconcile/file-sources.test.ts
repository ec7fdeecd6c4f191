// File sources: reading, watching and serialization.
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import { watchFiles } from '../../src/reconcile/read/file-watcher.ts'
import { createCachingFileReader } from '../../src/reconcile/read/read-files.ts'
import { deserializeSource } from '../../src/reconcile/read/source-text.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, planText } from '../support/sources.ts'

const folder = await mkdtemp(join(tmpdir(), 'regent-sources-'))
afterAll(() => rm(folder, { recursive: true }))
const read = (path: string, env = {}) => readFileSource(join(folder, path), { name: path, env, isAllowed: () => true })

test('a folder is one source of its YAML and JSON files and subfolders, without hidden and ignored ones', async () => {
  await mkdir(join(folder, 'many', 'deep'), { recursive: true })
  await mkdir(join(folder, 'many', 'other', 'below'), { recursive: true })
  await writeFile(join(folder, 'many', 'other', '.regentignore'), '')
  await writeFile(join(folder, 'many', 'other', 'y.yaml'), 'realm: y\n')
  await writeFile(join(folder, 'many', 'other', 'below', 'z.yaml'), 'realm: z\n')
  await mkdir(join(folder, 'many', '.git'), { recursive: true })
  await writeFile(join(folder, 'many', 'b.yaml'), 'realm: b\n---\nrealm: c\n')
  await writeFile(join(folder, 'many', 'a.json'), '[{"realm": "a"}]')
  await writeFile(join(folder, 'many', 'deep', 'd.yml'), 'realm: d\n')
  await writeFile(join(folder, 'many', '.git', 'x.yaml'), 'realm: x\n')
  await writeFile(join(folder, 'many', 'README.md'), '# no realm\n')
  const { documents } = await read('many')
  expect(documents.map(({ value }) => (value as { realm: string }).realm)).toEqual(['a', 'b', 'c', 'd'])
  expect((await read(join('many', 'other'))).documents).toHaveLength(2)
})

test('a file that is read again has the same documents until its text changes, whatever its size and timestamps', async () => {
  const readFile = createCachingFileReader()
  const path = join(folder, 'again.yaml')
  const options = { name: 'again', env: {}, isAllowed: () => true, readFile }
  const readAgain = async () => (await readFileSource(path, options)).documents[0]!
  const write = (name: string, file = path) => writeFile(file, `realm: again\ndisplayName: ${name}\n`)
  await write('a')
  const first = await readAgain()
  await write('a')
  expect(await readAgain()).toBe(first)
  await write('b')
  expect((await readAgain()).value).toEqual({ realm: 'again', displayName: 'b' })
  // Past the step of timestamps, they show whether the file has changed.
  await setTimeout(2_100)
  const second = await readAgain()
  expect(await readAgain()).toBe(second)
  await write('c', `${path}.new`)
  await rename(`${path}.new`, path)
  expect((await readAgain()).value).toEqual({ realm: 'again', displayName: 'c' })
})

test('a deserialized source has the same documents and positions, and looks up no variables', async () => {
  const text = 'realm: t\ndisplayName: $(env:NAME)\nattributes:\n  literal: $$(env:NAME)\n  nested: $(env:TRICK)\n'
  await writeFile(join(folder, 'travel.yaml'), text)
  const source = await read('travel.yaml', { NAME: 'Ann', TRICK: '$(env:NAME)' })
  const wire = JSON.parse(JSON.stringify({ name: source.name, revision: source.revision, files: source.files }))
  const [deserialized] = deserializeSource(wire).documents
  expect(deserialized!.value).toEqual(source.documents[0]!.value)
  expect(deserialized!.value).toMatchObject({
    displayName: 'Ann',
    attributes: { literal: '$(env:NAME)', nested: '$(env:NAME)' },
  })
  expect(deserialized!.locate(['attributes', 'nested'])).toMatchObject({ line: 5, column: 3 })
})

test('a text that looks like a variable survives export and apply', async () => {
  const { service } = await testService()
  const realm = newName()
  await writeFile(join(folder, 'escape.yaml'), `realm: ${realm}\ndisplayName: costs $$(env:PRICE)\n`)
  const source = await read('escape.yaml')
  await applySource(service, source)
  const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context))
  expect(exported.displayName).toBe('costs $$(env:PRICE)')
  await writeFile(join(folder, 'exported.json'), JSON.stringify(exported))
  expect(await planText(service, { ...(await read('exported.json')), name: source.name })).toContain('Nothing to do.')
})

test('symbolic links are followed, as in a mounted ConfigMap; broken and circular ones are errors', async () => {
  const mount = join(folder, 'mount')
  await mkdir(join(mount, '..2024_01'), { recursive: true })
  await writeFile(join(mount, '..2024_01', 'a.yaml'), 'realm: a\n')
  await symlink('..2024_01', join(mount, '..data'))
  await symlink('..data/a.yaml', join(mount, 'a.yaml'))
  await symlink(join(folder, 'many'), join(mount, 'more'))
  const { documents } = await read('mount')
  expect(documents.map(({ value }) => (value as { realm: string }).realm)).toEqual(['a', 'a', 'b', 'c', 'd'])
  await symlink('nowhere.yaml', join(mount, 'b.yaml'))
  await expect(read('mount')).rejects.toThrow(/b\.yaml cannot be read: it is a broken symbolic link/)
  await rm(join(mount, 'b.yaml'))
  await symlink('..', join(folder, 'many', 'up'))
  await expect(read('many')).rejects.toThrow(/many\/up is a symbolic link to one of its parent folders/)
  await rm(join(folder, 'many', 'up'))
  await mkdir(join(folder, 'other'))
  await symlink(join(folder, 'many'), join(folder, 'other', 'there'))
  await symlink(join(folder, 'other'), join(folder, 'many', 'back'))
  await expect(read('other')).rejects.toThrow(/other\/there\/back is a symbolic link to one of its parent folders/)
  await rm(join(folder, 'many', 'back'))
})

test('a source without documents is an error, and does not delete everything', async () => {
  await mkdir(join(folder, 'empty'))
  await writeFile(join(folder, 'empty', 'README.md'), '')
  await expect(read('empty')).rejects.toThrow(/empty contains no document/)
  await writeFile(join(folder, 'empty', 'a.yaml'), '# later\n')
  await expect(read('empty')).rejects.toThrow(/empty contains no document/)
})

test('a watched source reports changes, also in a hidden folder and behind the symbolic link of a mount', async () => {
  const mount = join(folder, '.hidden', 'mount')
  for (const version of ['1', '2']) {
    await mkdir(join(mount, `..${version}`), { recursive: true })
    await writeFile(join(mount, `..${version}`, 'a.yaml'), `realm: v${version}\n`)
  }
  await symlink('..1', join(mount, '..data'))
  await symlink('..data/a.yaml', join(mount, 'a.yaml'))
  let changes = 0
  const onError = (error: unknown) => expect.fail(String(error))
  const onChange = async () => {
    changes++
  }
  const stop = await watchFiles(mount, { onChange, onError })
  try {
    await writeFile(join(mount, 'b.yaml'), 'realm: b\n')
    await expect.poll(() => changes, { timeout: 10_000 }).toBe(1)
    await symlink('..2', join(mount, '..draft'))
    await rename(join(mount, '..draft'), join(mount, '..data'))
    await expect.poll(() => changes, { timeout: 10_000 }).toBeGreaterThan(1)
  } finally {
    await stop()
  }
})
