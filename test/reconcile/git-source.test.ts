// Git sources: addresses and names, reading, and connections.
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createOutbound } from '../../src/lib/http/outbound.ts'
import {
  type GitAddress,
  isSameRepository,
  parseGitAddress,
  renderGitAddress,
} from '../../src/reconcile/read/git-address.ts'
import { openGitSource } from '../../src/reconcile/read/git-source.ts'
import { identifyGitSource } from '../../src/reconcile/read/source-identity.ts'
import { createRepository, hasGit, startGitServer } from '../support/git.ts'

const env = {}
const isAllowed = () => true

test.skipIf(!hasGit)(
  'only changed files are parsed again, and a symbolic link out of the repository is not followed',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
    const repository = await createRepository(folder)
    await repository.push({ 'prod/a.yaml': 'realm: a\n', 'prod/b.yaml': 'realm: b\n' })
    const source = await openGitSource(parseGitAddress(`${repository.url}#main:prod`)!, { env, isAllowed })
    try {
      const first = await source.read()
      expect(first.documents.map(({ file }) => file)).toEqual(['prod/a.yaml', 'prod/b.yaml'])
      await repository.push({ 'prod/b.yaml': 'realm: c\n' })
      const second = await source.read()
      expect(second.documents.map(({ header: head }) => head.realm)).toEqual(['a', 'c'])
      expect(second.documents[0]!.value).toBe(first.documents[0]!.value)
      expect(second.revision).toBe(await source.fetchRevision())

      await writeFile(join(folder, 'outside.yaml'), 'realm: outside\n')
      await symlink(join(folder, 'outside.yaml'), join(folder, 'copy', 'prod', 'c.yaml'))
      await repository.push({})
      await expect(source.read()).rejects.toThrow(/^prod\/c.yaml:1:1: a document is an object/)
    } finally {
      await source.close()
      await rm(folder, { recursive: true })
    }
  },
)

test.skipIf(!hasGit)('a commit is read as it was committed, whatever was read before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  const repository = await createRepository(folder)
  const open = () => openGitSource(parseGitAddress(repository.url)!, { name: 'realms', env, isAllowed })
  const source = await open()
  const steps: readonly (readonly [removed: string, files: Record<string, string>])[] = [
    ['none', { 'a.yaml': 'realm: a\n', 'b/c.yaml': 'realm: c\n', 'd.yaml': 'realm: d\r\n' }],
    ['b', { 'a.yaml': 'realm: e\n' }],
    // A file becomes a folder, and a folder becomes a file.
    ['a.yaml', { 'a.yaml/f.yaml': 'realm: f\n', b: '' }],
    // Git may convert a committed CRLF when it sees this attribute, depending on timestamps.
    ['d.yaml', { '.gitattributes': '*.yaml text eol=crlf\n' }],
    ['none', { '.gitattributes': '*.yaml ident\n', 'g.yaml': 'realm: $Id$\n' }],
  ]
  try {
    for (const [removed, files] of steps) {
      await rm(join(folder, 'copy', removed), { recursive: true, force: true })
      await repository.push(files)
      const other = await open()
      const read = async (from: typeof source) => (await from.read()).files.map(({ file, text }) => [file, text])
      const expected = await read(other)
      await other.close()
      expect(await read(source)).toEqual(expected)
    }
    expect((await source.read()).files.map(({ text }) => text)).toEqual(['realm: f\n', 'realm: $Id$\n'])
  } finally {
    await source.close()
    await rm(folder, { recursive: true })
  }
})

test.skipIf(!hasGit)('a commit is read again after its checkout was interrupted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  const repository = await createRepository(folder)
  await repository.push({ 'a.yaml': 'realm: a\n' })
  const clones = join(folder, 'clones')
  await mkdir(clones)
  vi.stubEnv('TMPDIR', clones)
  onTestFinished(() => void vi.unstubAllEnvs())
  const source = await openGitSource(parseGitAddress(repository.url)!, { name: 'realms', env, isAllowed })
  try {
    await source.read()
    await repository.push({ 'a.yaml': 'realm: b\n' })
    const [clone = ''] = await readdir(clones)
    await writeFile(join(clones, clone, 'index.lock'), '')
    await expect(source.read()).rejects.toThrow('index.lock')
    expect((await source.read()).documents.map(({ header }) => header.realm)).toEqual(['b'])
  } finally {
    await source.close()
    await rm(folder, { recursive: true })
  }
})

test.skipIf(!hasGit)(
  'a tag and a full commit hash are read like a branch; an unknown name or path is an error',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
    const repository = await createRepository(folder)
    const commit = await repository.push({ 'a.yaml': 'realm: a\n' })
    await repository.git('tag', '--annotate', '--message=First', 'v1')
    await repository.git('push', '--quiet', 'origin', 'v1')
    await repository.push({ 'a.yaml': 'realm: b\n' })
    const read = async (fragment: string) => {
      const source = await openGitSource(parseGitAddress(`${repository.url}${fragment}`)!, { env, isAllowed })
      try {
        expect(await source.fetchRevision()).toBe((await source.read()).revision)
        return source.attemptedRevision
      } finally {
        await source.close()
      }
    }
    expect(await read('#v1')).toBe(commit)
    expect(await read(`#${commit}:a.yaml`)).toBe(commit)
    expect(await read('')).not.toBe(commit)
    await expect(read('#v2')).rejects.toThrow('there is no branch or tag v2. Commits must be given by their full hash.')
    await expect(read('#main:x')).rejects.toThrow(
      /there is no file or folder x in commit \w+\. Correct the path of the source, or push the file\./,
    )
    await rm(folder, { recursive: true })
  },
)

test('a git source is named by host, path and folder of its repository, and shown without credentials', () => {
  const parse = (text: string) => {
    const address = parseGitAddress(text)
    return address && [identifyGitSource(address, {}), renderGitAddress(address)]
  }
  expect(parse('./realms')).toBeUndefined()
  expect(parse('https://ci:pass@example.com/realms.git#main:prod')).toEqual([
    'example.com/realms:prod',
    'https://example.com/realms.git#main:prod',
  ])
  expect(parse('git@example.com:team/realms.git#:prod/')).toEqual([
    'example.com/team/realms:prod',
    'git@example.com:team/realms.git#:prod',
  ])
  expect(parse('ssh://git@example.com:2222/realms.git')).toEqual([
    'example.com/realms',
    'ssh://git@example.com:2222/realms.git',
  ])
  expect(parse('file:///srv/realms.git#feature/x')![0]).toBe('/srv/realms')
})

test.each([
  ['git://example.com/realms.git', 'Use https, ssh or file.'],
  ['ext://sh', 'Use https, ssh or file.'],
  ['http://u:secret@example.com/realms.git', 'http://example.com/realms.git is not encrypted'],
  ['ssh://git:secret@example.com/realms.git', 'contains a password'],
  ['https://example.com/realms.git?token=secret', 'has a query string'],
  ['https://example.com/realms.git#--upload-pack=x', 'is not a valid name of a branch'],
  ['https://example.com/realms.git#main:../../etc', 'is outside of the repository'],
])('%s is refused', (address, message) => {
  expect(() => parseGitAddress(address)).toThrow(message)
})

test('the address of a webhook matches the repository, whatever its protocol', () => {
  for (const other of [
    'git@example.com:team/realms.git',
    'ssh://git@Example.com:22/team/realms',
    'https://example.com/team/realms/',
  ])
    expect(isSameRepository('https://ci:x@example.com/team/realms.git', other), other).toBe(true)
  expect(isSameRepository('https://example.com/team/realms.git', 'https://example.com/team/other.git')).toBe(false)
})

test.skipIf(!hasGit)(
  'git connects to the checked IP address, whatever the name resolves to later, and follows no redirect',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
    const repository = await createRepository(folder)
    await repository.push({ 'a.yaml': 'realm: a\n' })
    const host = await startGitServer(folder, 'ann', 'pw')
    const [, port] = host.host.split(':')
    const redirecting = createServer((request, response) => {
      response.writeHead(302, { location: `http://ann:pw@${host.host}${request.url}` }).end()
    }).listen(0, '127.0.0.1')
    await once(redirecting, 'listening')
    const resolvedNames: string[] = []
    const outbound = {
      ...createOutbound({ development: true }),
      async resolve(name: string) {
        resolvedNames.push(name)
        return '127.0.0.1'
      },
    }
    const open = (address: Partial<GitAddress>) =>
      openGitSource({ url: '', protocol: 'http', ...address }, { env, isAllowed, outbound, keys: {} })
    const credentials = { user: 'ann', password: 'pw' }
    // No resolver knows this name.
    const source = await open({ url: `http://repository.invalid:${port}/realms.git`, credentials })
    const { port: other } = redirecting.address() as AddressInfo
    const redirected = await open({ url: `http://127.0.0.1:${other}/realms.git` })
    try {
      expect((await source.read()).documents).toHaveLength(1)
      const requestCount = host.countRequests()
      await expect(redirected.fetchRevision()).rejects.toThrow(/git cannot/)
      expect(host.countRequests()).toBe(requestCount)
      expect(new Set(resolvedNames)).toEqual(new Set(['repository.invalid', '127.0.0.1']))
    } finally {
      redirecting.close()
      await source.close()
      await redirected.close()
      await host.close()
    }
  },
)
