// Spans of SQL statements. They have neither the text of a statement nor its values.
import type { CompiledQuery } from 'kysely'
import type { SpanDescription } from '../../lib/tracing.ts'

/** The beginnings of statements, and of the parts that write, with the table that follows. */
const WRITE = /\b(insert into|update|delete from|merge into)\s+"?(\w+)/i
const READ = /\bfrom\s+"?([a-z_]\w*)/i

/** Describes a statement: what it does, and the first table that it writes to, or reads. */
export function describeStatement({ sql }: CompiledQuery): SpanDescription {
  const [, write, written] = WRITE.exec(sql) ?? []
  const operation = (write ?? /^\s*(\w+)/.exec(sql)?.[1] ?? 'query').split(' ')[0]!.toUpperCase()
  const table = written ?? READ.exec(sql)?.[1]
  const verb = operation === 'WITH' ? 'SELECT' : operation
  return {
    name: table ? `${verb} ${table}` : verb,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': verb, 'db.collection.name': table },
  }
}
