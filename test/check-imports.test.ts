import { describe, expect, test } from 'vitest'
import { checkImports, findCycles, type Import, readImports, readSources } from '../scripts/check-imports.ts'

const order = 'lib ← kinds ← {store, config} ← service ← realm-file ← {oidc, reconcile} ← http ← operator ← cli ← main'
const service =
  'src/service/: policy-evaluation ← context ← tasks ← permissions ← journal ← objects ← messages ← authorization ← users ← client-policies ← clients ← realms ← kinds ← federation ← workflows ← login ← sources ← operations ← admin-api ← protection ← registration'
const adminApi =
  'src/service/admin-api/: common ← users ← clients ← roles ← clients-v2 ← authorization ← authentication ← identity-providers ← organizations ← realms'
const siblings = 'oidc and reconcile do not import each other, nor do store and config'
const reconcile =
  'src/reconcile/: model ← read ← merge ← observe ← plan ← lint ← report ← execute ← approve ← record ← run ← drift ← history ← import ← accept ← inspect ← following'
const pure =
  'reconcile/{model,plan,lint,report} and service/policy-evaluation import kinds, lib, one another, and types of service only'

test('imports in src conform to the rules', () => {
  expect(checkImports(readSources())).toEqual([])
})

test('src has no import cycles, including type imports', () => {
  expect(findCycles(readSources())).toEqual([])
})

test('an import cycle is reported with its files', () => {
  const from = (file: string, ...specifiers: string[]) => ({
    file,
    imports: specifiers.map((specifier) => ({ specifier, isTypeOnly: true })),
  })
  const files = [from('src/a.ts', './b.ts', 'node:fs'), from('src/b.ts', './lib/c.ts'), from('src/lib/c.ts', '../b.ts')]
  expect(findCycles(files)).toEqual(['src/b.ts → src/lib/c.ts → src/b.ts'])
  expect(findCycles(files.slice(0, 2))).toEqual([])
})

describe('a violation names its rule', () => {
  test.each([
    ['src/lib/a.ts', '../kinds/role.ts', 'src/kinds/role.ts', order],
    ['src/kinds/a.ts', '../store/a.ts', 'src/store/a.ts', order],
    ['src/store/a.ts', '../service/a.ts', 'src/service/a.ts', order],
    ['src/service/a.ts', '../realm-file/a.ts', 'src/realm-file/a.ts', order],
    ['src/realm-file/a.ts', '../reconcile/a.ts', 'src/reconcile/a.ts', order],
    ['src/oidc/a.ts', '../http/a.ts', 'src/http/a.ts', order],
    ['src/http/admin/a.ts', '../../operator/a.ts', 'src/operator/a.ts', order],
    ['src/operator/a.ts', '../cli/a.ts', 'src/cli/a.ts', order],
    ['src/cli/a.ts', '../main.ts', 'src/main.ts', order],
    ['src/config.ts', './service/a.ts', 'src/service/a.ts', order],
    ['src/oidc/a.ts', '../reconcile/a.ts', 'src/reconcile/a.ts', siblings],
    ['src/reconcile/read/git-source.ts', '../../oidc/a.ts', 'src/oidc/a.ts', siblings],
    ['src/config.ts', './store/a.ts', 'src/store/a.ts', siblings],
    ['src/http/a.ts', '../store/a.ts', 'src/store/a.ts', 'nothing above service imports store'],
    ['src/main.ts', './store/a.ts', 'src/store/a.ts', 'nothing above service imports store'],
    ['src/http/a.ts', '../config.ts', 'src/config.ts', 'only cli and main import config'],
    ['src/service/a.ts', '../config.ts', 'src/config.ts', 'only cli and main import config'],
    ['src/reconcile/plan/plan.ts', '../../service/a.ts', 'src/service/a.ts', pure],
    ['src/reconcile/plan/changes.ts', '../execute/apply.ts', 'src/reconcile/execute/apply.ts', pure],
    ['src/reconcile/execute/apply.ts', '../record/record.ts', 'src/reconcile/record/record.ts', reconcile],
    ['src/reconcile/a.ts', './run/run.ts', 'src/reconcile/run/run.ts', reconcile],
    ['src/reconcile/report/render.ts', 'node:fs', 'node:fs', pure],
    ['src/service/policy-evaluation/a.ts', 'node:fs', 'node:fs', pure],
    ['src/service/objects/a.ts', '../users/a.ts', 'src/service/users/a.ts', service],
    ['src/service/a.ts', './users/a.ts', 'src/service/users/a.ts', service],
    ['src/service/admin-api/users/a.ts', '../roles/a.ts', 'src/service/admin-api/roles/a.ts', adminApi],
    [
      'src/console/a.tsx',
      '../kinds/role.ts',
      'src/kinds/role.ts',
      'the console imports its own files and packages only',
    ],
    ['src/console/a.tsx', 'zod', 'zod', 'the console imports its own files and packages only'],
    ['src/http/a.ts', '../console/a.tsx', 'src/console/a.tsx', 'not a layer of src'],
    ['src/http/a.ts', 'preact', 'preact', 'only the console imports it'],
    ['src/helpers/a.ts', '../lib/a.ts', 'src/lib/a.ts', 'not a layer of src'],
    ['src/lib/a.ts', '../../test/support/postgres.ts', './test/support/postgres.ts', 'not a layer of src'],
    ['src/reconcile/a.ts', 'kysely', 'kysely', 'only store imports it, and service its types'],
    ['src/service/a.ts', 'pg', 'pg', 'only store imports it, and service its types'],
    [
      'src/cli/a.ts',
      '@electric-sql/pglite/live',
      '@electric-sql/pglite/live',
      'only store imports it, and service its types',
    ],
    ['src/oidc/a.ts', 'fastify', 'fastify', 'only http imports it'],
    ['src/main.ts', '@fastify/formbody', '@fastify/formbody', 'only http imports it'],
    ['src/http/a.ts', '@kubernetes/client-node', '@kubernetes/client-node', 'only operator imports it'],
  ])('%s → %s', (file, specifier, to, rule) => {
    expect(checkImports([{ file, imports: [{ specifier, isTypeOnly: false }] }])).toEqual([
      `${file} imports ${to}: ${rule}`,
    ])
  })

  test('types count as well, except those of the database libraries in service', () => {
    const types = (file: string, specifier: string) =>
      checkImports([{ file, imports: [{ specifier, isTypeOnly: true }] }])
    expect(types('src/http/a.ts', '../store/a.ts')).toHaveLength(1)
    expect(types('src/oidc/a.ts', 'fastify')).toHaveLength(1)
    expect(types('src/http/a.ts', 'kysely')).toHaveLength(1)
    expect(types('src/service/a.ts', 'kysely')).toEqual([])
  })
})

test.each([
  ['src/config.ts', './kinds/role.ts'],
  ['src/config.ts', 'zod'],
  ['src/main.ts', './config.ts'],
  ['src/cli/serve.ts', '../config.ts'],
  ['src/service/a.ts', '../store/a.ts'],
  ['src/store/a.ts', 'kysely'],
  ['src/http/a.ts', 'fastify'],
  ['src/reconcile/report/render.ts', '../plan/plan.ts'],
  ['src/reconcile/execute/apply.ts', '../../service/a.ts'],
  ['src/kinds/index.ts', './built-in/realm.json'],
])('%s may import %s', (file, specifier) => {
  expect(checkImports([{ file, imports: [{ specifier, isTypeOnly: false }] }])).toEqual([])
})

test.each<[string, Import[]]>([
  [`import { a } from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`import a, { type b } from "./a.ts"`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`import {\n  a,\n  b,\n} from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`import * as a from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`import './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`import a from './a.json' with { type: 'json' }`, [{ specifier: './a.json', isTypeOnly: false }]],
  [`import type { A } from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: true }]],
  [`import type * as a from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: true }]],
  [`export type { A } from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: true }]],
  [`export { a } from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`export * from './a.ts'`, [{ specifier: './a.ts', isTypeOnly: false }]],
  [`export interface A {}\nexport type { B } from './b.ts'`, [{ specifier: './b.ts', isTypeOnly: true }]],
  [
    `  const [a, b] = await Promise.all([import('./a.ts'), import(\n    './b.ts'\n  )])`,
    [
      { specifier: './a.ts', isTypeOnly: false },
      { specifier: './b.ts', isTypeOnly: false },
    ],
  ],
  [`// import('./a.ts')\n/** import('./a.ts') */\n * import('./a.ts')\nconst from = 'from'`, []],
])('%s is read', (source, imports) => {
  expect(readImports(source)).toEqual(imports)
})
