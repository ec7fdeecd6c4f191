// Commands that talk to a server start fast, since they load neither a database driver nor the service.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const CLIENT_COMMANDS = ['accept', 'apply', 'drift', 'export', 'get', 'history', 'plan', 'plans', 'source', 'why']

/** Prints the URLs of all modules that the command loads before it runs. */
const script = (command: string) => `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
  await import('./src/cli/commands/${command}.ts')
  console.log(JSON.stringify(urls))`

test.for(CLIENT_COMMANDS)('the command %s loads no database driver', async (command) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script(command)], {
    cwd: ROOT,
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  const urls: string[] = JSON.parse(stdout)
  expect(urls.some((url) => url.endsWith(`/${command}.ts`))).toBe(true)
  expect(urls.filter((url) => /node_modules\/(kysely|pg|@electric-sql)\/|\/src\/store\//.test(url))).toEqual([])
})
