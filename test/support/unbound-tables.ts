// Checks that a statement on data of a realm names the realm: the rows of each table must be restricted to a realm by an equality.

/** Tables without data of a realm, and tables by which a realm is looked up. */
const FREE = new Set([
  'realm',
  'source',
  // A source has editors before it has a realm.
  'source_editor',
  'generated_secret',
  'store_setting',
  'lease',
  // Entries outlive their realm, and are delivered in one order.
  'audit_outbox',
  'kysely_migration',
  'kysely_migration_lock',
  // Plans may be about several realms, and about realms that do not exist yet; deleted realms are looked up by name.
  'plan',
  'plan_realm',
  'deleted_realm',
])

/** Returns the tables that a statement reads or writes without naming the realm. */
export function findUnboundTables(sql: string, tables: ReadonlySet<string>): string[] {
  const text = sql.replace(/\s+/g, ' ').replaceAll('"', '').toLowerCase()
  const references = [...text.matchAll(/\b(from|join|update|into|using) (\w+)(?: (?:as )?(\w+))?/g)]
  return references.flatMap(([, verb, table, after]) => {
    if (!tables.has(table!) || FREE.has(table!)) return []
    if (verb === 'into') return new RegExp(`into ${table}(?: as \\w+)? \\(realm,`).test(text) ? [] : [table!]
    const alias = after && !/^(where|on|set|join|order|using|limit|for|left)$/.test(after) ? after : undefined
    const column = alias ? `${alias}\\.realm` : `(?:${table}\\.)?realm`
    const bound = new RegExp(
      `(?<![\\w.])${column} = (\\$\\d|\\w+\\.(realm|number))|\\w+\\.(realm|number) = ${column}\\b`,
    )
    return bound.test(text) ? [] : [table!]
  })
}
