// A schema whose tables are partitioned by realm, as a sharded database would distribute them. PostgreSQL then requires that each unique key
// contains the realm, and that each foreign key refers to such a key.

/** Returns the statements of migrations with each table of realm data partitioned by the number of the realm. */
export function partitionTables(statements: readonly string[], partitions: number): string[] {
  return statements.flatMap((statement) => {
    const table = /^\s*create table (\w+) \(/.exec(statement)?.[1]
    if (!table || !/^\s*realm integer\b/m.test(statement)) return [statement]
    return [
      `${statement.trimEnd()} partition by hash (realm)`,
      ...Array.from(
        { length: partitions },
        (_, remainder) =>
          `create table ${table}_${remainder} partition of ${table} for values with (modulus ${partitions}, remainder ${remainder})`,
      ),
    ]
  })
}
