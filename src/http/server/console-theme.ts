// The files of Keycloak's admin console: from its jars, or from a folder into which they were unpacked.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import * as z from 'zod'
import { parseProperties } from '../../lib/keycloak/java-properties.ts'

/** The admin console of one version of Keycloak. */
export interface ConsoleTheme {
  /** The version of Keycloak. */
  readonly version: string
  /** A part of the addresses of the files, which changes with their content. */
  readonly resourceVersion: string
  /** The template of the page. */
  readonly template: string
  readonly properties: ReadonlyMap<string, string>
  /** The script of the page, and what it loads with it. */
  readonly entry: ConsoleEntry
  /** Returns a file by its path in the jars; undefined if there is none. */
  find(path: string): Uint8Array | undefined
  /** Returns the texts in a locale such as `pt-BR`, by key, without those of other locales. */
  getTexts(locale: string): ReadonlyMap<string, string>
}

interface ConsoleEntry {
  readonly script: string
  readonly styles: readonly string[]
  readonly imports: readonly string[]
}

type Files = ReadonlyMap<string, Uint8Array>

/** Versions whose console was tested with Regent. */
const TESTED_VERSIONS = ['26.0.8', '26.2.5', '26.4.7', '26.6.0', '26.7.3']

/** The folder of the console in its jar. */
export const CONSOLE_FOLDER = 'theme/keycloak.v2/admin'
/** The folder of the files that several consoles load. */
export const COMMON_FOLDER = 'theme/keycloak/common'
const BASE_FOLDER = 'theme/base/admin'
const VERSION_FILE = 'META-INF/maven/org.keycloak/keycloak-admin-ui/pom.properties'

/** The files that the page loads from other jars. Before 26.1 it was in `keycloak-themes`. */
const VENDOR = /^theme\/keycloak\/common\/resources\/vendor\/(?:react|react-dom|web-crypto-shim)\/.*(?<!\.map|\/)$/

/** The jars, with the files of each that the console needs. The last one has texts of error messages. */
const JARS: readonly { readonly name: string; readonly needs: readonly RegExp[] }[] = [
  { name: 'keycloak-admin-ui', needs: [/^(?:META-INF\/maven\/|theme\/keycloak\.v2\/admin\/).*(?<!\.map|\/)$/] },
  { name: 'keycloak-themes-vendor', needs: [VENDOR] },
  { name: 'keycloak-themes', needs: [VENDOR, /^theme\/base\/admin\/.*\.properties$/] },
]

/** Reads the console from a folder. @throws Error if the folder has none, or one of another version than 26 */
export async function openConsoleTheme(folder: string): Promise<ConsoleTheme> {
  const files = await readFiles(folder)
  checkFiles(files, folder)
  const version = readVersion(files, folder)
  const hash = createHash('sha256')
  for (const [path, content] of files) hash.update(path).update(content)
  const textsByLocale = new Map<string, ReadonlyMap<string, string>>()
  return {
    version,
    resourceVersion: hash.digest('base64url').slice(0, 12),
    template: readFileText(files, `${CONSOLE_FOLDER}/index.ftl`),
    properties: parseProperties(readFileText(files, `${CONSOLE_FOLDER}/theme.properties`)),
    entry: readEntry(files),
    find: (path) => files.get(path),
    getTexts(locale) {
      const texts = textsByLocale.get(locale) ?? readTexts(files, locale)
      // The locale is part of an address: only those with texts are cached.
      if (texts.size > 0) textsByLocale.set(locale, texts)
      return texts
    },
  }
}

async function readFiles(folder: string): Promise<Files> {
  const entries = await readdir(folder, { withFileTypes: true })
  if (entries.some(({ name }) => name === 'theme')) return readUnpacked(folder)
  const files = new Map<string, Uint8Array>()
  for (const { name, needs } of JARS) {
    const pattern = new RegExp(`^(?:org\\.keycloak\\.)?${name}-\\d[^/]*\\.jar$`)
    const [jar, ...more] = entries.filter((entry) => pattern.test(entry.name))
    if (more.length > 0) throw new Error(`${folder} has ${name} in several versions. Keep one of them.`)
    if (!jar) continue
    const filter = (file: { readonly name: string }) => needs.some((need) => need.test(file.name))
    for (const [path, bytes] of Object.entries(unzipSync(await readFile(join(folder, jar.name)), { filter })))
      files.set(path, bytes)
  }
  return files
}

/** Throws Error if a jar is missing without which there is no console. */
function checkFiles(files: Files, folder: string): void {
  const paths = [...files.keys()]
  const missing = !files.has(VERSION_FILE)
    ? 'keycloak-admin-ui'
    : !paths.some((path) => VENDOR.test(path)) && 'keycloak-themes-vendor'
  if (missing)
    throw new Error(
      `${folder} has no admin console of Keycloak: ${missing}-<version>.jar is missing. Keycloak's folder lib/lib/main has it.`,
    )
}

async function readUnpacked(folder: string): Promise<Files> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = new Map<string, Uint8Array>()
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const file = join(parentPath, name)
    const path = file.slice(join(folder, '/').length).replaceAll('\\', '/')
    if (JARS.some(({ needs }) => needs.some((need) => need.test(path)))) files.set(path, await readFile(file))
  }
  return files
}

function readVersion(files: Files, folder: string): string {
  const version = parseProperties(readFileText(files, VERSION_FILE)).get('version') ?? ''
  if (!/^26\.\d+\./.test(version))
    throw new Error(
      `${folder} has the admin console of Keycloak ${version || 'without a version'}. Regent reads those of 26.x; it is tested with ${TESTED_VERSIONS.join(', ')}.`,
    )
  return version
}

const chunk = z.object({
  file: z.string(),
  isEntry: z.boolean().optional(),
  css: z.array(z.string()).default([]),
  imports: z.array(z.string()).default([]),
})

function readEntry(files: Files): ConsoleEntry {
  const text = readFileText(files, `${CONSOLE_FOLDER}/resources/.vite/manifest.json`)
  const chunks = z.record(z.string(), chunk).parse(JSON.parse(text))
  const entry = Object.values(chunks).find(({ isEntry }) => isEntry)
  if (!entry) throw new Error('The admin console of Keycloak has no entry in its manifest.json.')
  return {
    script: entry.file,
    styles: entry.css,
    imports: entry.imports.flatMap((name) => chunks[name]?.file ?? []),
  }
}

/** Chinese locales by region, whose texts are in files by script. */
const SCRIPTS: Readonly<Record<string, string>> = { 'zh-CN': 'zh-Hans', 'zh-TW': 'zh-Hant' }

function readTexts(files: Files, locale: string): ReadonlyMap<string, string> {
  const name = `messages_${(SCRIPTS[locale] ?? locale).replaceAll('-', '_')}.properties`
  const texts = [BASE_FOLDER, CONSOLE_FOLDER].flatMap((folder) => {
    const content = files.get(`${folder}/messages/${name}`)
    return content ? [...parseProperties(new TextDecoder().decode(content))] : []
  })
  return new Map(texts.length > 0 ? [...texts, ...nameLocales(files, locale)] : [])
}

/** Returns the texts for the selection of a language: its name in the locale, and in the language itself. */
function nameLocales(files: Files, locale: string): [string, string][] {
  const base = files.get(`${BASE_FOLDER}/theme.properties`)
  const tags = base ? (parseProperties(new TextDecoder().decode(base)).get('locales') ?? '').split(',') : []
  const names = new Intl.DisplayNames([locale], { type: 'language' })
  return tags
    .filter((tag) => tag !== '')
    .map((tag) => {
      const name = names.of(tag)!
      const ownName = new Intl.DisplayNames([tag], { type: 'language' }).of(tag)!
      return [`locale_${tag}`, name === ownName ? name : `${name} (${ownName})`]
    })
}

function readFileText(files: Files, path: string): string {
  const content = files.get(path)
  if (!content) throw new Error(`The admin console of Keycloak has no ${path}.`)
  return new TextDecoder().decode(content)
}
