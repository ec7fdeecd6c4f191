import { randomBytes } from 'node:crypto'
import { desiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { renderNote } from '../../reconcile/report/render.ts'
import { openVault } from '../../service/context/vault.ts'
import { readSource, type SourceFlags } from './source.ts'

/** `regent validate`: everything about documents that needs no store. */
export async function validate(path: string, flags: SourceFlags): Promise<void> {
  const source = await readSource(path, flags)
  const realms = desiredRealms(source.documents, openVault(randomBytes(32)), source.unknownFields)
  for (const { name, objects, notices } of realms) {
    console.log(`realm ${name}: ${objects.size} ${objects.size === 1 ? 'object' : 'objects'}, valid`)
    for (const notice of notices) console.log(renderNote(notice))
  }
  for (const notice of source.notices ?? []) console.log(renderNote(notice))
}
