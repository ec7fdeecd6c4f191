// The kinds that tenants may declare are written out: see `tenantKinds`.
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { listResourceNames } from '../../src/kinds/resource-kinds.ts'
import { tenantKinds } from '../../src/kinds/source-permission-setting.ts'

test('tenants may be permitted the resource of each kind but the realm', () => {
  const objects = Object.values(kinds).filter(({ name }) => name !== 'realm')
  expect([...tenantKinds]).toEqual(objects.map((kind) => listResourceNames(kind)[0]))
})
