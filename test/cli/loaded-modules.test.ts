// Commands start fast, since they load only what they need.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const CLIENT_COMMANDS = ['accept', 'apply', 'drift', 'export', 'get', 'history', 'plan', 'plans', 'source', 'why']

/** Prints the URLs of all modules that the script loads, and the names of Node's own modules. */
const createScript = (script: string) => `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
  process.on('exit', () => console.log('\\n' + JSON.stringify([...urls, ...process.moduleLoadList])))
  ${script}`

/** Returns the modules that a script in the root of the repository loads. */
async function listLoadedModules(script: string): Promise<string[]> {
  const parameters = ['--input-type=module', '--eval', createScript(script)]
  const options = { cwd: ROOT, maxBuffer: Number.POSITIVE_INFINITY }
  const { stdout } = await promisify(execFile)(process.execPath, parameters, options)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
}

test('the help loads neither the kinds nor a command', async () => {
  const urls = await listLoadedModules(`process.argv.push('--help'); await import('./src/main.ts')`)
  expect(urls.some((url) => url.endsWith('/src/main.ts'))).toBe(true)
  expect(urls.filter((url) => /\/src\/(kinds\/index|cli\/commands\/[^/]+)\.ts$/.test(url))).toEqual([])
})

test.for(['http/server.ts', 'cli/connect.ts'])('src/%s does not load undici', async (file) => {
  const modules = await listLoadedModules(`await import('./src/${file}')`)
  expect(modules.some((name) => name.endsWith(`/src/${file}`))).toBe(true)
  expect(modules.filter((name) => /undici/.test(name))).toEqual([])
})

test('a server does not load OpenTelemetry unless the environment enables traces', async () => {
  const start = (environment: object) =>
    listLoadedModules(`
      const { startTracing } = await import('./src/cli/open-telemetry.ts')
      await startTracing(${JSON.stringify(environment)})`)
  // The package of the metrics loads the interfaces.
  const isOpenTelemetry = (url: string) => /\/@opentelemetry\/(?!api\/)/.test(url)
  const server = await listLoadedModules(`await import('./src/cli/commands/serve.ts')`)
  expect([...server, ...(await start({}))].filter(isOpenTelemetry)).toEqual([])
  expect((await start({ OTEL_TRACES_EXPORTER: 'otlp' })).some(isOpenTelemetry)).toBe(true)
})

test.for(CLIENT_COMMANDS)('the command %s loads no database driver', async (command) => {
  const urls = await listLoadedModules(`await import('./src/cli/commands/${command}.ts')`)
  expect(urls.some((url) => url.endsWith(`/${command}.ts`))).toBe(true)
  expect(urls.filter((url) => /node_modules\/(kysely|pg|@electric-sql)\/|\/src\/store\//.test(url))).toEqual([])
})
