// Sources for tests: texts of documents, without files.
import { createHash } from 'node:crypto'
import { dump } from 'js-yaml'
import { unwrapResources } from '../../src/realm-file/resources/unwrap-resources.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import type { SourceContent, SerializedSource } from '../../src/reconcile/read/source-content.ts'
import { withoutColors, renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, type RunOutcome, planSources } from '../../src/reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../src/service/context/service.ts'

/** No number of deletions waits for an approval: that is a matter of tests of its own. */
export const withoutDeletionGuards = { deletions: Number.MAX_SAFE_INTEGER, share: 1 }

/** A source that states the documents: YAML texts, or values; without a name, one of its own for their realms. */
export function createSource(stated: readonly (string | object)[], name?: string): SourceContent & SerializedSource {
  const texts = stated.map((one) => (typeof one === 'string' ? one : dump(one, { noRefs: true })))
  const files = texts.map((text, at) => ({ file: `${name ?? 'test'}-${at + 1}.yaml`, text, values: [] }))
  const opened = unwrapResources(files.flatMap(({ file, text }) => parseDocuments(file, text)))
  const realms = new Set(opened.documents.map(({ header: head }) => head.realm))
  return {
    // Each test has realms of its own: one source for all would state those of the others no more.
    name: name ?? `test of ${[...realms].sort().join(', ')}`,
    revision: createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12),
    settings: { guards: withoutDeletionGuards },
    files,
    ...opened,
  }
}

/** An administrator, as REST would name one. */
export const ANN: Caller = {
  actor: {
    kind: 'administrator',
    realm: 'master',
    userId: 'ann',
    user: 'ann',
    client: 'admin-cli',
    address: '127.0.0.1',
  },
}

/** Plans, and gives the text that a person sees. */
export async function planText(service: Service, state: SourceContent): Promise<string> {
  return renderOutcome(await planSources(service, SYSTEM, [state]), 'planned', withoutColors)
}

/** Applies as the source would by itself. */
export function applySource(service: Service, state: SourceContent): Promise<RunOutcome> {
  return applySources(service, { actor: { kind: 'source', source: state.name } }, [state])
}
