import { describe } from '../../kinds/tree.ts'
import type { Reason, Reasons } from '../../reconcile/history/why.ts'
import { shortened } from '../../reconcile/model/attribution.ts'
import { by, text } from '../../reconcile/report/render.ts'
import { request, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'

/** `regent why`: which documents state something, and who set it when. */
export async function why(realm: string, path: string, flags: StoreFlags & { output: string }): Promise<void> {
  const query = new URLSearchParams({ path })
  const found = (await request(flags, 'GET', `/regent/v1/why/${encodeURIComponent(realm)}?${query}`)) as Reasons
  console.log(flags.output === 'json' ? JSON.stringify(found, null, 2) : render(found))
}

function render({ kind, key, by: maker, fields }: Reasons): string {
  const made = maker ? `, made by ${by(maker)}` : ''
  const said = fields.length ? fields.flatMap(reason) : ['  no document states anything of it']
  return [`${paint('bold', describe(kind, key))}${made}`, ...said].join('\n')
}

function reason({ path, value, stated, by: who, ...rest }: Reason): string[] {
  const shown = 'value' in { value, ...rest } && value !== undefined ? text(value) : '(secret)'
  const places = stated.map(
    ({ source, revision, file, line }) => `      stated at ${file}:${line} (${source}, ${shortened(revision)})`,
  )
  return [
    `  ${path}: ${shown}`,
    ...(places.length ? places : ['      nobody states it']),
    who ? `      set by ${by(who)}` : '      as it came with its object',
  ]
}
