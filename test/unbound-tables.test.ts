import { expect, test } from 'vitest'
import { findUnboundTables } from './support/unbound-tables.ts'

const tables = new Set(['client', 'client_scope', 'role', 'realm'])
const unbound = (sql: string) => findUnboundTables(sql, tables)

test('a statement that restricts each table to a realm is accepted', () => {
  expect(unbound('select * from client t where t.realm = $1')).toEqual([])
  expect(unbound('select * from "client" "t" join client_scope s on s.realm = t.realm where t.realm = $1')).toEqual([])
  expect(unbound('insert into client (realm, id) select $1, x.id from jsonb_to_recordset($2) as x(id text)')).toEqual(
    [],
  )
  expect(unbound('delete from client where realm = $1 and id = any($2)')).toEqual([])
  expect(unbound('select number from realm where name = $1')).toEqual([])
})

test('a statement that does not restrict a table to a realm is reported', () => {
  expect(unbound('select * from client where id = $1')).toEqual(['client'])
  expect(
    unbound('select * from client t where t.realm = $1 and exists (select from client_scope s where s.id = t.id)'),
  ).toEqual(['client_scope'])
  expect(unbound('update client t set body = $1 where t.id = $2')).toEqual(['client'])
  expect(unbound('delete from client using x where id = x.id')).toEqual(['client'])
  expect(unbound('insert into client (id) values ($1)')).toEqual(['client'])
})
