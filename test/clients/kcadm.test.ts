// kcadm.sh, the admin CLI of Keycloak: the commands of Keycloak's documentation have the same effect as with Keycloak.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCommandFolder } from '../support/cli.ts'
import { hasKcadm, type KcadmResult, keycloakUrl, runKcadm, withKcadm } from '../support/kcadm.ts'
import { isObject, replaceVolatileValues } from '../support/recorded-exchanges.ts'
import differences from './kcadm-differences.json' with { type: 'json' }

/** Milliseconds for the commands on both servers. Each starts a JVM. */
const TIMEOUT = 3_600_000
/** Headers that no client reads. */
const IGNORED_HEADERS = /^(date|connection|keep-alive): .*\n/gim

const commands = (await readFile(join(import.meta.dirname, 'kcadm-commands.sh'), 'utf8'))
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))

/** Returns a result without what differs from run to run: ids, times, secrets, keys, the address, and the order of sets. */
function normalize(server: string, { status, out, err }: KcadmResult) {
  const normalizeText = (text: string) => normalizeLines(text.replaceAll(server, '{{server}}'))
  const json = parseJson(out.replaceAll(server, '{{server}}'))
  return { status, out: json === undefined ? normalizeText(out) : normalizeValue(json), err: normalizeText(err) }
}

/** Normalizes lines: ids, headers, whose names are not case-sensitive, and the order, which JSON and CSV have from lists. */
function normalizeLines(text: string): string[] {
  return text
    .replace(IGNORED_HEADERS, '')
    .replace(/^[\w-]+(?=: )/gm, (name) => name.toLowerCase())
    .replace(/(?<=\/sessions\/)[\w-]+/g, '<id>')
    .split('\n')
    .map((line) => String(replaceVolatileValues(line)))
    .sort()
}

/** Normalizes a value. Keycloak's lists are sets in most places. Their order, where it matters, is compared in the recordings. */
function normalizeValue(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => normalizeValue(element)).sort(compareAsJson)
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, member]) => [String(replaceVolatileValues(name)), normalizeValue(member, name)] as const)
        .sort(([first], [second]) => (first < second ? -1 : 1)),
    )
  if (typeof value === 'number') return replaceVolatileValues(value)
  if (typeof value !== 'string') return value
  if (/^(id|kid|parentId)$/.test(key)) return '<id>'
  const json = /^[{[]/.test(value) ? parseJson(value) : undefined
  return json === undefined ? replaceVolatileValues(value) : normalizeValue(json)
}

const compareAsJson = (first: unknown, second: unknown) => (JSON.stringify(first) < JSON.stringify(second) ? -1 : 1)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

test.runIf(hasKcadm)(
  `${withKcadm} each of ${commands.length} commands has the same exit status and output as on Keycloak`,
  { timeout: TIMEOUT },
  async () => {
    const folder = await createCommandFolder()
    const { url } = await folder.serve('--source', '')
    const [results, keycloakResults] = await Promise.all([url, keycloakUrl].map((server) => runKcadm(server, commands)))
    await folder.remove()
    const differing = commands.filter((command, at) => {
      const [actual, expected] = [normalize(url, results![at]!), normalize(keycloakUrl, keycloakResults![at]!)]
      const isSame = JSON.stringify(actual) === JSON.stringify(expected)
      const isListed = differences.some((difference) => difference.command === command)
      if (!isSame && !isListed) expect.soft(actual, command).toEqual(expected)
      return !isSame
    })
    expect(differences.map(({ command }) => command).filter((command) => !differing.includes(command))).toEqual([])
  },
)
