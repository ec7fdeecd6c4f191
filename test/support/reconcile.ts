// Sources for tests: texts of documents, without files.
import { createHash } from 'node:crypto'
import { dump } from 'js-yaml'
import { openEnvelopes } from '../../src/realm-file/resources/envelopes.ts'
import { parseDocuments } from '../../src/realm-file/yaml/document.ts'
import type { SourceState, SourceText } from '../../src/reconcile/read/source-state.ts'
import { plainly, renderOutcome } from '../../src/reconcile/report/render.ts'
import { applySources, type Outcome, planSources } from '../../src/reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../src/service/context/service.ts'

/** No number of deletions waits for an approval: that is a matter of tests of its own. */
export const guards = { deletions: Number.MAX_SAFE_INTEGER, share: 1 }

/** A source that states the documents: YAML texts, or values; without a name, one of its own for their realms. */
export function source(stated: readonly (string | object)[], name?: string): SourceState & SourceText {
  const texts = stated.map((one) => (typeof one === 'string' ? one : dump(one, { noRefs: true })))
  const files = texts.map((text, at) => ({ file: `${name ?? 'test'}-${at + 1}.yaml`, text, values: [] }))
  const opened = openEnvelopes(files.flatMap(({ file, text }) => parseDocuments(file, text)))
  const realms = new Set(opened.documents.map(({ head }) => head.realm))
  return {
    // Each test has realms of its own: one source for all would state those of the others no more.
    name: name ?? `test of ${[...realms].sort().join(', ')}`,
    revision: createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12),
    settings: { guards },
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
export async function planText(service: Service, state: SourceState): Promise<string> {
  return renderOutcome(await planSources(service, SYSTEM, [state]), 'planned', plainly)
}

/** Applies as the source would by itself. */
export function applyAs(service: Service, state: SourceState): Promise<Outcome> {
  return applySources(service, { actor: { kind: 'source', source: state.name } }, [state])
}
