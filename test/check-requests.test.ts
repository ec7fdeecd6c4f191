import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkRequests, findRequests } from '../scripts/check-requests.ts'

test('only lib/http/http-request.ts sends HTTP requests', () => {
  expect(checkRequests()).toEqual([])
  const source = readFileSync('src/lib/http/http-request.ts', 'utf8')
  expect(findRequests('src/service/a.ts', source)).not.toEqual([])
})

test.each([
  ["const answer = await fetch('https://a.example')", 'fetch'],
  ['  return globalThis.fetch(url)', 'fetch'],
  ['const send = globalThis.fetch', 'fetch'],
  ["import { request } from 'node:https'", 'request of node:https'],
  ["import { createServer, get as ask } from 'node:http'", 'get of node:http'],
  ["import http from 'node:http'", 'http of node:http'],
  ["import * as http from 'http'", '* as http of http'],
  ["import { connect } from 'node:http2'", 'connect of node:http2'],
  ["import {\n  type Dispatcher,\n  Pool,\n} from 'undici'", 'Pool of undici'],
  ["const { request } = await import('node:https')", '* of node:https'],
  ["const { request: send } = process.getBuiltinModule('node:http')", 'request of node:http'],
  ["process.getBuiltinModule('node:http').request(address)", '* of node:http'],
  ['const modules = process.getBuiltinModule(name)', '* of node:http'],
])('a request beside the client is found: %s', (source, use) => {
  const violation = `src/service/a.ts uses ${use}: only src/lib/http/http-request.ts sends HTTP requests`
  expect(findRequests('src/service/a.ts', source)).toEqual([violation])
})

test.each([
  "import { createServer, type Server } from 'node:https'",
  "import type { Agent } from 'node:http'",
  "const { ServerResponse } = process.getBuiltinModule('node:http')",
  "process.getBuiltinModule('node:fs').readFileSync(file)",
  "// await fetch('https://a.example')",
  'await source.fetch()',
  "await git(['fetch', '--quiet'])",
])('what sends no request is not taken for one: %s', (source) => {
  expect(findRequests('src/service/a.ts', source)).toEqual([])
})

test('code that runs in browsers may fetch', () => {
  expect(findRequests('src/console/a.ts', 'fetch(address)')).toEqual([])
})
