// Sources for tests: texts of documents without files.
import { createHash } from 'node:crypto'
import { dump } from 'js-yaml'
import { unwrapResources } from '../../src/realm-file/resources/unwrap-resources.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { DocumentError, type DocumentProblem } from '../../src/realm-file/yaml/problem.ts'
import type { SerializedSource, SourceContent } from '../../src/reconcile/read/source-content.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources, type RunOutcome } from '../../src/reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../src/service/context/service.ts'

/** Settings without limits of deletions, which have tests of their own. */
export const withoutDeletionGuards = { deletions: Number.MAX_SAFE_INTEGER, share: 1 }

/** Creates a source with documents: YAML texts, or values. The default name depends on their realms. */
export function createSource(documents: readonly (string | object)[], name?: string): SourceContent & SerializedSource {
  const texts = documents.map((document) =>
    typeof document === 'string' ? document : dump(document, { noRefs: true }),
  )
  const files = texts.map((text, at) => ({ file: `${name ?? 'test'}-${at + 1}.yaml`, text, values: [] }))
  const opened = unwrapResources(files.flatMap(({ file, text }) => parseDocuments(file, text)))
  const realms = new Set(opened.documents.map(({ header: head }) => head.realm))
  return {
    // Each test has realms of its own. A shared source would prune those of other tests.
    name: name ?? `test of ${[...realms].sort().join(', ')}`,
    revision: createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12),
    settings: { guards: withoutDeletionGuards },
    files,
    ...opened,
  }
}

/** An administrator who calls by REST. */
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

/**
 * Plans, and returns the text of the plan, without the line of the source. A plan of the same documents under another name depends on no
 * inventory, so the guard of that has tests of its own.
 */
export async function planText(service: Service, state: SourceContent): Promise<string> {
  const { realms, notes } = await planSources(service, SYSTEM, [state])
  const withoutGuard = realms.map(({ guards = [], ...outcome }) => ({
    ...outcome,
    guards: guards.filter(({ guard }) => guard !== 'shared'),
    findings: outcome.findings ?? [],
  }))
  return renderOutcome({ realms: withoutGuard, notes }, 'planned')
}

/** Applies a source, with the source as actor. */
export function applySource(service: Service, state: SourceContent): Promise<RunOutcome> {
  return applySources(service, { actor: { kind: 'source', source: state.name } }, [state])
}

/** Returns the problems of refused documents. Throws other errors. */
export function listProblems(error: unknown): readonly DocumentProblem[] {
  if (!(error instanceof DocumentError)) throw error
  return error.problems
}
