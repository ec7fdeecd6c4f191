// Artifacts as sources: only files within the archive are read, and only of archives with the declared digest.

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound, UNRESTRICTED } from '../../src/lib/http/outbound.ts'
import { type ArtifactSourceOptions, openArtifactSource } from '../../src/reconcile/read/artifact-source.ts'
import { RemoteError } from '../../src/reconcile/read/git-command.ts'
import { type ArchiveServer, createArchive, digestOf, serveArchives } from '../support/flux.ts'

const REVISION = `main@sha1:${'1'.repeat(40)}`
let server: ArchiveServer
beforeAll(async () => {
  server = await serveArchives()
})
afterAll(() => server.close())

async function readArchive(archive: Buffer, options: Partial<ArtifactSourceOptions> & { digest?: string } = {}) {
  const path = `/${randomBytes(6).toString('hex')}.tar.gz`
  server.archives.set(path, archive)
  const { digest = digestOf(archive), ...further } = options
  const source = await openArtifactSource(
    { url: server.url + path, revision: REVISION, digest },
    {
      ...{ name: 'team', displayName: 'GitRepository team/realms', repository: 'https://git.example.com/realms.git' },
      ...{ outbound: UNRESTRICTED, env: {}, isAllowed: () => false },
      ...further,
    },
  )
  try {
    expect(await source.fetchRevision()).toBe(REVISION)
    const content = await source.read()
    // A second read downloads nothing.
    await source.read()
    expect(server.requests.filter((request) => request === path)).toHaveLength(1)
    return content
  } finally {
    await source.close()
  }
}

test('the documents of an archive have the revision of the artifact, and names relative to the archive', async () => {
  const files = { 'prod/acme.yaml': 'realm: acme\n', 'prod/a/b.json': '{"realm":"b"}', 'dev/acme.yaml': 'not: read\n' }
  const content = await readArchive(await createArchive({ ...files, 'prod/notes.txt': 'x' }), { folder: 'prod' })
  expect(content.revision).toBe(REVISION)
  expect(content.files.map(({ file }) => file)).toEqual(['prod/a/b.json', 'prod/acme.yaml'])
  // The origin is that of the repository itself, so that a source may change from url to sourceRef.
  expect(content.origin).toBe('git.example.com/realms:prod')
  const single = await readArchive(await createArchive(files), { folder: 'prod/acme.yaml' })
  expect(single.files).toHaveLength(1)
})

describe('an archive is refused', () => {
  const acme = { 'acme.yaml': 'realm: acme\n' }
  test.each([
    ['with a path to a parent folder', { name: '../../etc/x.yaml' }, 'is not safe'],
    ['with a parent folder within a path', { name: 'a/../../x.yaml' }, 'is not safe'],
    ['with an absolute path', { name: '/etc/x.yaml' }, 'is not safe'],
    ['with a backslash in a path', { name: '..\\x.yaml' }, 'is not safe'],
    ['with a symbolic link', { name: 'x.yaml', type: 'symlink', linkname: '/etc/passwd' }, 'is a link'],
    ['with a symbolic link to a folder', { name: 'all', type: 'symlink', linkname: '..' }, 'is a link'],
    ['with a hard link', { name: 'x.yaml', type: 'link', linkname: 'acme.yaml' }, 'is a link'],
    ['with a device', { name: 'x.yaml', type: 'character-device' }, 'is a link or a special file'],
  ] as const)('%s', async (_title, header, message) => {
    const before = await readdir(tmpdir())
    await expect(readArchive(await createArchive(acme, [header]))).rejects.toThrow(message)
    const remaining = (await readdir(tmpdir())).filter(
      (name) => name.startsWith('regent-git-') && !before.includes(name),
    )
    expect(remaining).toEqual([])
  })

  test('that is not a gzip-compressed tar archive, or is truncated', async () => {
    await expect(readArchive(Buffer.from('PK'))).rejects.toThrow('not a valid gzip-compressed tar archive')
    const archive = await createArchive({ 'acme.yaml': `realm: acme\n# ${randomBytes(20_000).toString('hex')}\n` })
    await expect(readArchive(archive.subarray(0, 9_000))).rejects.toThrow('not a valid gzip-compressed tar archive')
  })

  test('with more bytes than allowed, however well they are compressed', async () => {
    const zeros = '\n'.repeat(100 * 1024 * 1024)
    const bomb = await createArchive({ 'a.yaml': zeros, 'b.yaml': zeros, 'c.yaml': zeros })
    expect(bomb.length).toBeLessThan(1024 * 1024)
    await expect(readArchive(bomb)).rejects.toThrow('bytes')
    await expect(readArchive(randomBytes(65 * 1024 * 1024))).rejects.toThrow('is longer than 67108864 bytes')
  })

  test('without the folder of the source, or without documents', async () => {
    await expect(readArchive(await createArchive(acme), { folder: 'prod' })).rejects.toThrow('no file or folder prod')
    await expect(readArchive(await createArchive({ 'a.txt': 'x' }))).rejects.toThrow('no document')
  })
})

test('a link outside of the folder of the source does not matter', async () => {
  const archive = await createArchive({ 'prod/acme.yaml': 'realm: acme\n' }, [
    { name: 'latest', type: 'symlink', linkname: 'prod' },
  ])
  expect((await readArchive(archive, { folder: 'prod' })).documents).toHaveLength(1)
})

test('a missing archive, one with another digest and one in a private network are temporary failures', async () => {
  const archive = await createArchive({ 'acme.yaml': 'realm: acme\n' })
  const digest = digestOf(Buffer.from('another one'))
  await expect(readArchive(archive, { digest })).rejects.toThrow(RemoteError)
  await expect(readArchive(archive, { digest: `md5:${'0'.repeat(32)}` })).rejects.toThrow('is not supported')
  await expect(readArchive(archive, { outbound: createOutbound({}) })).rejects.toThrow('is in a private network')
  const missing = await openArtifactSource(
    { url: `${server.url}/missing.tar.gz`, revision: REVISION, digest },
    {
      ...{ name: 'team', displayName: 'x', repository: 'https://git.example.com/realms.git' },
      ...{ outbound: UNRESTRICTED, env: {}, isAllowed: () => false },
    },
  )
  await expect(missing.read()).rejects.toThrow('the response has status 404')
  await missing.close()
})
