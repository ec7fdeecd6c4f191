// The header that tells whose fields a call has changed: a list of structured fields (RFC 9651).
import type { OverwrittenDeclaration } from '../service/context/context.ts'
import type { Operation } from './operation.ts'
import { errorSchema } from './responses.ts'

/** The operations, those that change something in a realm with what sources may say to that. */
export function ownable(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    const { event, path, responses } = operation
    if (event === undefined || !path.startsWith('/admin/realms/{realm}')) return operation
    const told = Object.entries(responses).map(([status, one]) => [
      status,
      status.startsWith('2') ? { ...one, owned: true as const } : one,
    ])
    const taken = responses[409] ? `${responses[409].description} Or a` : 'A'
    const refused = { description: `${taken} source states what would change, and refuses it.`, schema: errorSchema }
    return { ...operation, responses: { ...Object.fromEntries(told), 409: refused } }
  })
}

/** So many are told. */
const TOLD = 10

/** The value of Regent-Owned-By: sources, each with the object, the field and the place that states it. */
export function ownedBy(all: readonly OverwrittenDeclaration[]): string {
  const items = all.map(({ source, object, path, position: at }) => {
    const field = path === undefined ? '' : `;field=${text(path)}`
    return `${text(source)};object=${text(object)}${field};at=${text(at)}`
  })
  return [...new Set(items)].slice(0, TOLD).join(', ')
}

/** A string; what is more than ASCII is a display string. */
function text(value: string): string {
  if (/^[ -~]*$/.test(value)) return `"${value.replace(/[\\"]/g, '\\$&')}"`
  const escaped = [...Buffer.from(value)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x25
      ? `%${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  )
  return `%"${escaped.join('')}"`
}
