import { randomBytes } from 'node:crypto'
import { desiredRealms } from '../reconcile/desired.ts'
import { openVault } from '../service/vault.ts'
import { readSource } from './source.ts'

/** `regent validate`: everything about documents that needs no store. */
export async function validate(path: string): Promise<void> {
  const { documents } = await readSource(path)
  const realms = desiredRealms(documents, openVault(randomBytes(32)))
  for (const { name, objects, unmanaged } of realms) {
    console.log(`realm ${name}: ${objects.size} ${objects.size === 1 ? 'object' : 'objects'}, valid`)
    for (const { field } of unmanaged) console.log(`  note: ${field} is not managed by this version and left alone`)
  }
  if (!realms.length) console.log(`${path} states no realm`)
}
