// Checks that only one file of src sends HTTP requests. All others may use neither `fetch` nor the requests of `node:http`.
import { globSync, readFileSync } from 'node:fs'

/** The only file that sends HTTP requests. */
const HTTP_CLIENT = 'src/lib/http/http-request.ts'
/** Code that runs in browsers. */
const BROWSER_CODE = /^src\/(console\/|oidc\/login\/login-status-iframe\.ts$)/
/** Modules that can send HTTP requests, and their exports that cannot. */
const HTTP_MODULES = /^(?:node:)?(?:https?|http2)$|^(?:undici|axios|got|node-fetch|ky)(?:\/|$)/
const SERVER_EXPORTS = new Set(['createServer', 'Server', 'ServerResponse', 'IncomingMessage', 'STATUS_CODES'])

/** Returns a line for each use of HTTP requests in a file's text that bypasses the client of `src/lib`. */
export function findRequests(file: string, source: string): string[] {
  if (file === HTTP_CLIENT || BROWSER_CODE.test(file)) return []
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const imports = /^import\s+(?!type\s)([^'"]+?)\s+from\s*['"]([^'"]+)|\bimport\(\s*['"]([^'"]+)/gm
  const imported = [...code.matchAll(imports)].flatMap(([, names = '*', from, dynamic]) => {
    const module = from ?? dynamic!
    return HTTP_MODULES.test(module) ? valueNames(names).map((name) => `${name} of ${module}`) : []
  })
  const builtins = /(?:\{([^{}]*)\}\s*=\s*)?\bprocess\.getBuiltinModule\(\s*(?:['"]([^'"]+))?/g
  const obtained = [...code.matchAll(builtins)].flatMap(([, names, module = 'node:http']) =>
    HTTP_MODULES.test(module)
      ? valueNames(names ? `{${names.replaceAll(':', ' as ')}}` : '*').map((name) => `${name} of ${module}`)
      : [],
  )
  const fetches = [...code.matchAll(/(?<![.\w$])(?:(?:globalThis|window|self)\.)?fetch\s*\(|globalThis\.fetch\b/g)]
  const uses = [...imported, ...obtained, ...fetches.map(() => 'fetch')]
  return uses.map((use) => `${file} uses ${use}: only ${HTTP_CLIENT} sends HTTP requests`)
}

/** Returns the names of an import that are neither types nor exports for servers. */
function valueNames(names: string): string[] {
  const [, before = '', inside = ''] = /^([^{]*)(?:\{([^}]*)\})?$/s.exec(names.trim()) ?? []
  const imported = inside.split(',').map((name) => name.trim().split(/\s+as\s+/)[0]!)
  return [before.replace(/,\s*$/, '').trim(), ...imported].filter(
    (name) => name && !name.startsWith('type ') && !SERVER_EXPORTS.has(name),
  )
}

/** Returns a line for each violation in the files of src in the current directory. */
export function checkRequests(): string[] {
  return globSync('src/**/*.ts').flatMap((file) => findRequests(file, readFileSync(file, 'utf8')))
}

if (import.meta.main) {
  const violations = checkRequests()
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}
