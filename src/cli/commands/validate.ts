import { randomBytes } from 'node:crypto'
import { readDesiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { renderNote } from '../../reconcile/report/text-report.ts'
import { openVault } from '../../service/context/vault.ts'
import { readSource, type SourceFlags } from './source.ts'

/** `regent validate`: checks documents without a store. */
export async function validate(path: string, flags: SourceFlags): Promise<void> {
  const source = await readSource(path, flags)
  const realms = readDesiredRealms(source.documents, {
    vault: openVault(randomBytes(32)),
    unknownFields: source.unknownFields,
  })
  for (const { name, objects, warnings } of realms) {
    console.log(`realm ${name}: ${objects.size} ${objects.size === 1 ? 'object' : 'objects'}, valid`)
    for (const warning of warnings) console.log(renderNote(warning))
  }
  for (const warning of source.warnings ?? []) console.log(renderNote(warning))
}
