// A folder that a server follows: nothing that changes there is missed, not even while it is read for the first time.
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
  const usual = { settings: undefined, ceiling: undefined, unknownFields: 'error', variables: undefined } as const
  const asked = { signers: undefined, interval: 60, retryInterval: 60, timeout: undefined }
  const named: ConfiguredSource = {
    name: newName(),
    at: { file: folder },
    ...usual,
    ...asked,
    suspend: false,
    dependsOn: [],
  }
  source = await openSource(named, false, new AbortController().signal)
})
afterEach(() => rm(folder, { recursive: true }))

test('what changes while a folder is read for the first time is applied', async () => {
  const realm = newName()
  const state = (displayName: string) => writeFile(file, `realm: ${realm}\ndisplayName: ${displayName}\n`)
  await state('One')
  const { read } = source
  let times = 0
  source.read = async () => {
    const found = await read()
    if (times++ === 0) await state('Two')
    return found
  }
  const failures: unknown[] = []
  const failed = (error: unknown) => failures.push(error)
  const following = startLeaseElection(service, createLeaseCandidate(service, [source], failed), {
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
    await following.close()
    await source.close()
  }
})
