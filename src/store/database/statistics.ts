// Statistics of the query planner. PostgreSQL updates them up to a minute after a large write, and PGlite never does.
import { type Kysely, sql } from 'kysely'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { outsideTransaction, type Tables } from './transaction.ts'

/** Updates of the statistics in the background. */
export interface StatisticsUpdates {
  /** Starts an update, if none is about to start. */
  start(): void
  /** Waits for the update in progress. */
  close(): Promise<void>
}

/** Milliseconds until an update is tried again that has failed. */
const RETRY_DELAY = 60_000

/** Creates the updates of a store. */
export function createStatisticsUpdates(db: Kysely<Tables>): StatisticsUpdates {
  const queue = new WorkQueue<'statistics'>(() => outsideTransaction(() => updateStatistics(db)), {
    backOff: () => RETRY_DELAY,
  })
  return { start: () => queue.add('statistics'), close: () => queue.close() }
}

/**
 * Updates the statistics of the tables that are more than five times as large as at their last update, except those that another
 * connection is updating. Prepared statements on these tables are planned again. One statement.
 */
async function updateStatistics(db: Kysely<Tables>): Promise<void> {
  await sql`
    do $$
    declare name text;
    begin
      for name in
        select c.oid::regclass from pg_class c
        where c.relkind = 'r' and c.relnamespace = current_schema::regnamespace
          and pg_relation_size(c.oid) / current_setting('block_size')::integer > 5 * c.relpages + 8
      loop
        execute 'analyze (skip_locked) ' || name;
      end loop;
    end $$`.execute(db)
}
