// Laws: apply, then plan, is empty; export, then plan, is empty; an export makes the same realm again.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/render.ts'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { applyAs, planText, source } from '../support/reconcile.ts'
import { freshService } from '../support/service.ts'

const shared = new URL('../../../shared/data/realms/', import.meta.url)
const own = new URL('../../examples/acme.yaml', import.meta.url)
const files = [
  own,
  ...[
    'master-export-26.5.5.json',
    'benchmark.yaml',
    'servlet-saml.json',
    'rest-authz.json',
    'servlet-authz-client.json',
    'fgap-v2.json',
    'moped.json',
    'acme-internal.yaml',
    'userprofile.yaml',
  ].map((name) => new URL(name, shared)),
]

const first = await freshService()
const second = await freshService()
for (const service of [first, second])
  await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(async () => {
  await first.close()
  await second.close()
})

describe.each(files.map((file) => [file.pathname.split('/').at(-1)!, file] as const))('%s', (name, file) => {
  test.skipIf(!existsSync(file))(
    'plan, apply, plan is empty; export, plan is empty; the least that is exported makes the same realm',
    async () => {
      const text = readFileSync(file, 'utf8')
        .replaceAll(/\$\(env:\w+:-([^)]*)\)/g, '$1')
        .replaceAll(/\$\(env:\w+\)/g, 'https://apps.example')
      const state = source([text], name)
      const realm = (state.documents[0]!.value as { realm: string }).realm
      expect(await planText(first, state)).toMatch(/to create/)
      await applyAs(first, state)
      expect(await planText(first, state)).toContain('Nothing to do.')
      expect(await planText(first, { ...state, name: `${name} once more` })).toContain('Nothing to do.')

      const read = (service: Service, full: boolean) =>
        service.read(SYSTEM, realm, (context) => exportRealm(context, { secrets: true, full }))
      const [minimal, full] = [await read(first, false), await read(first, true)]
      for (const exported of [full, minimal])
        expect(await planText(first, source([exported], `${name} exported`))).toContain('Nothing to do.')

      await applyAs(second, source([minimal], name))
      expect(await read(second, true)).toEqual(full)
      expect(await read(second, false)).toEqual(minimal)
    },
  )
})
