// A folder that a server watches.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ConfiguredSource } from '../../src/cli/configured-sources.ts'
import { createLeaseCandidate } from '../../src/cli/source-replica.ts'
import { openSource, type WatchedSource } from '../../src/cli/watched-source.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { startLeaseElection } from '../../src/service/operations/leases.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
let folder: string
let file: string
let source: WatchedSource

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
  file = join(folder, 'realm.yaml')
  const name = newName()
  const configured: ConfiguredSource = {
    name,
    identity: { name, isComplete: true },
    at: { file: folder },
    settings: undefined,
    sourcePermissions: undefined,
    unknownFields: 'error',
    variables: undefined,
    signers: undefined,
    readsAuthors: false,
    interval: 60,
    retryInterval: 60,
    timeout: undefined,
    suspend: false,
    dependsOn: [],
  }
  source = await openSource(configured, false, new AbortController().signal)
})
afterEach(() => rm(folder, { recursive: true }))

test('a change of a watched folder during its first read is applied', async () => {
  const realm = newName()
  const state = (displayName: string) => writeFile(file, `realm: ${realm}\ndisplayName: ${displayName}\n`)
  await state('One')
  const { read } = source
  let times = 0
  source.read = async () => {
    const documents = await read()
    if (times++ === 0) await state('Two')
    return documents
  }
  const failures: unknown[] = []
  const reportFailure = (error: unknown) => failures.push(error)
  const election = startLeaseElection(service, createLeaseCandidate(service, [source], reportFailure), {
    name: newName(),
    seconds: 15,
  })
  try {
    const name = async () => {
      const live = await getLiveObject(service, SYSTEM, realm, 'realm', realm).catch(() => undefined)
      return live?.representation.displayName
    }
    await expect.poll(name, { timeout: 30_000 }).toBe('Two')
    expect(failures).toEqual([])
  } finally {
    await election.close()
    await source.close()
  }
})
