// Every statement on a realm's data names the realm: for each table, its rows are bound to a realm by an equality.

/** Tables that hold no realm's data, or are how a realm is found. */
const FREE = new Set([
  'realm',
  'source',
  'generated_secret',
  'store_setting',
  'lease',
  'kysely_migration',
  'kysely_migration_lock',
  // A plan may be about several realms, and about some that are not there yet; what a realm was called is known of what is gone.
  'plan',
  'plan_realm',
  'deleted_realm',
])

/** What is wrong with a statement: each table that it reads or writes without naming the realm. */
export function findUnboundTables(sql: string, tables: ReadonlySet<string>): string[] {
  const text = sql.replace(/\s+/g, ' ').replaceAll('"', '').toLowerCase()
  const named = [...text.matchAll(/\b(from|join|update|into|using) (\w+)(?: (?:as )?(\w+))?/g)]
  return named.flatMap(([, verb, table, after]) => {
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
