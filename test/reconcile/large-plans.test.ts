// Large plans: similar objects are shown as groups, and one by one with `full`.
import { expect, test } from 'vitest'
import { renderMarkdownOutcome } from '../../src/reconcile/report/markdown-report.ts'
import { renderOutcome, type TextReportOptions } from '../../src/reconcile/report/text-report.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { updateObject } from '../support/live-objects.ts'
import { apply, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const CLIENTS = 1_000
/** Lines of two terminals. */
const TWO_SCREENS = 48

test('a plan of 1,000 changed clients fits on two screens, and is complete with full', async () => {
  const declare = (change: (at: number) => object) => ({
    clients: Array.from({ length: CLIENTS }, (_, at) => ({
      clientId: `client-${at}`,
      name: `Client ${at}`,
      ...change(at),
    })),
  })
  await apply({ ...declare(() => ({})), roles: { realm: [{ name: 'old' }] } })
  await updateObject(service, ANN, realm, 'client', ['client-7'], { name: 'Changed' })
  const declared = declare((at) => ({ name: `New ${at}`, ...(at < 12 && { description: 'd' }) }))
  const outcome = await planSources(service, SYSTEM, [toRealmSource({ ...declared, displayName: 'ACME' })])
  const render = (options: TextReportOptions) => renderOutcome(outcome, 'planned', options)

  const grouped = render({})
  expect(grouped.split('\n').length).toBeLessThanOrEqual(TWO_SCREENS)
  expect(grouped).toContain('  ~ 1 realm, 1,000 clients\n  - 1 role\n')
  expect(grouped).toContain('  ~ 1,000 clients: name, description of 12\n')
  expect(grouped).toContain('      ! overwrites 1 live change by ann\n')
  expect(grouped).toContain('      client-0, client-1, client-2, client-3, client-4, … 995 more\n')
  expect(grouped).toContain('displayName: ')
  expect(grouped).toContain('- role old')

  const full = render({ detail: 'full' })
  for (const { clientId } of declared.clients) expect(full).toContain(`  ~ client ${clientId}  `)
  expect(full.match(/ → New \d+/g)).toHaveLength(CLIENTS)
  expect(render({ detail: 'summary' })).not.toContain('name')
})

test('a summary of a plan has numbers by kind, also of a single changed object', async () => {
  await apply({ clients: [{ clientId: 'shop' }] })
  const declared = toRealmSource({ clients: [{ clientId: 'shop', name: 'Shop' }] })
  const outcome = await planSources(service, SYSTEM, [declared])
  expect(renderOutcome(outcome, 'planned', { detail: 'summary' })).toContain('  ~ 1 client\n')
  expect(renderOutcome(outcome, 'planned')).not.toContain('1 client\n')
  expect(renderMarkdownOutcome(outcome, 'planned', { isSummary: true })).toContain('\n- **~** 1 client')
})
