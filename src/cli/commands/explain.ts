import { readFile } from 'node:fs/promises'
import { readObject, readText } from '../../kinds/json.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'
import type { PermissionExplanation } from '../../reconcile/run/explain-permissions.ts'
import { request, type StoreFlags } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { paint } from '../paint.ts'
import { readSource, type SourceFlags, serializeSource } from './source.ts'

/** `regent explain`: prints whether a source may declare the objects in documents. Exits with 1 if one is not permitted. */
export async function explain(
  paths: readonly string[],
  flags: StoreFlags & SourceFlags & { output: string },
): Promise<void> {
  const name = flags.name ?? (await findNamespaceSource(paths[0]!))
  const source = await readSource(paths, { ...flags, name })
  const explanations = await request<PermissionExplanation[]>(flags, 'POST', '/regent/v1/explain', {
    body: serializeSource(source),
  })
  console.log(flags.output === 'json' ? JSON.stringify(explanations, null, 2) : render(explanations))
  if (explanations.some(({ isPermitted }) => !isPermitted)) setExitCode('error')
}

/** Returns the source of the namespace of the resources in a file; undefined if they have none, or several. */
async function findNamespaceSource(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const namespaces = parseDocuments(path, text).map(({ value }) =>
    readText(readObject(readObject(value).metadata).namespace),
  )
  const [namespace, ...otherNamespaces] = new Set(namespaces)
  return namespace === undefined || otherNamespaces.length ? undefined : `kubernetes:${namespace}`
}

function render(explanations: readonly PermissionExplanation[]): string {
  const lines = explanations.map(({ isPermitted, position: { file, line }, object, message }) => {
    const verdict = isPermitted ? paint('green', 'permitted') : paint('red', 'refused')
    return `${verdict}  ${object} (${file}:${line}): ${message}`
  })
  return lines.length ? lines.join('\n') : 'The documents declare nothing.'
}
