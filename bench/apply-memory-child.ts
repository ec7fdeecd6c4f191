// The process whose memory is measured. It reads and applies a folder three times.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileSource } from '../src/reconcile/read/file-source.ts'
import { applySources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { openService } from '../src/service/operations/open-service.ts'

const [url, folder] = process.argv.slice(2) as [string, string]
const service = await openService({ location: { url }, key: new Uint8Array(32) })
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})

async function runStep(name: string, isExpected: (actions: number) => boolean): Promise<void> {
  const start = performance.now()
  const source = await readFileSource(folder, { name: 'users', env: {}, isAllowed: () => false })
  const { realms } = await applySources(service, SYSTEM, [source])
  const actions = realms[0]!.plan.actions.length
  if (!isExpected(actions)) throw new Error(`${name}: unexpected number of actions: ${actions}`)
  const peak = process.resourceUsage().maxRSS / 1024
  process.send!({ name, seconds: (performance.now() - start) / 1_000, peak })
}

await runStep('apply users to an empty realm', (actions) => actions > 100)
await runStep('apply unchanged', (actions) => actions === 0)
const file = join(folder, 'users-0.json')
await writeFile(file, (await readFile(file, 'utf8')).replace('"Number 7"', '"Seven"'))
await runStep('apply one changed user', (actions) => actions === 1)
await service.close()
process.disconnect()
