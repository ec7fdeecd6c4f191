// The store that a command opens: from its options, else from the environment, else the default folder.
import { expect, test, vi } from 'vitest'
import { type StoreFlags, toStoreKey } from '../../src/cli/connect.ts'

const POOLER = 'postgres://pooler/regent'
const DIRECT = 'postgres://database/regent'
const OTHER = 'postgres://other/regent'

test.each<[string, StoreFlags, Record<string, string>, object]>([
  ['the default folder', {}, {}, { data: 'data' }],
  ['the folder of the environment', {}, { REGENT_DATA: 'folder' }, { data: 'folder' }],
  ['the database of the environment', {}, { REGENT_DATABASE: POOLER }, { database: POOLER }],
  [
    'the direct database of the environment instead of the pooler',
    {},
    { REGENT_DATABASE: POOLER, REGENT_DATABASE_DIRECT: DIRECT },
    { database: DIRECT },
  ],
  [
    'the database of the option',
    { database: OTHER },
    { REGENT_DATABASE: POOLER, REGENT_DATABASE_DIRECT: DIRECT },
    { database: OTHER },
  ],
  [
    'the folder of the option',
    { data: 'folder' },
    { REGENT_DATABASE: POOLER, REGENT_DATABASE_DIRECT: DIRECT },
    { data: 'folder', database: undefined },
  ],
])('a command opens %s', (_, flags, environment, expected) => {
  for (const name of ['REGENT_DATA', 'REGENT_DATABASE', 'REGENT_DATABASE_DIRECT'])
    vi.stubEnv(name, environment[name] ?? '')
  expect(toStoreKey(flags)).toMatchObject(expected)
  vi.unstubAllEnvs()
})
