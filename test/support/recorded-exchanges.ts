// Replays recorded exchanges: sends the requests that were recorded with Keycloak, and compares the responses.
// In recordings, ids, times, tokens and secrets are replaced by names or placeholders.
import { setTimeout } from 'node:timers/promises'
import { expectDescribedResponse } from './described-responses.ts'
import { RECORDED_ENTRIES } from './directory.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { startSlapd } from './slapd.ts'

/** A recorded list of exchanges. */
export interface RecordedExchanges {
  readonly reference: string
  readonly steps: readonly Step[]
}

interface Step {
  readonly title: string
  readonly request: Call
  readonly capture?: Readonly<Record<string, string>>
  readonly ignore?: readonly string[]
  readonly ordered?: true | string
  readonly wait?: number
  readonly response: Answer
}

interface Call {
  readonly method: string
  readonly path: string
  readonly auth?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly form?: Record<string, string>
  readonly text?: string
  /** Texts and files of a multipart form, by name. */
  readonly parts?: Record<string, string | RecordedFile>
}

/** A file of a form, with its content as text or in base64. */
type RecordedFile = { readonly filename: string } & ({ readonly text: string } | { readonly base64: string })

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Run {
  readonly server: string
  /** The SMTP server for the server under test. Steps refer to its port. */
  readonly mailbox: Mailbox
  readonly vars: Record<string, unknown>
  token?: { readonly text: string; readonly at: number }
}

/** Whether the exchanges need an LDAP directory, which is started with fixed entries. */
export function needsDirectory(recording: RecordedExchanges): boolean {
  return JSON.stringify(recording).includes('{{ldapUrl}}')
}

/** Returns the differences of each step, by its index. Steps without differences are omitted. */
export async function replay(recording: RecordedExchanges, server: string): Promise<Map<number, string[]>> {
  const mailbox = await openMailbox()
  const slapd = needsDirectory(recording) ? await startSlapd({ entries: RECORDED_ENTRIES }) : undefined
  const directory = slapd && { ldapUrl: slapd.url }
  const vars = { ...directory, run: Math.random().toString(36).slice(2, 8), server, smtpPort: mailbox.port }
  const run: Run = { server, mailbox, vars }
  const differing = new Map<number, string[]>()
  for (const [at, step] of recording.steps.entries()) {
    const stepDifferences = findDifferences(step, await perform(run, step))
    if (stepDifferences.length) differing.set(at, stepDifferences)
  }
  await mailbox.close()
  await slapd?.remove()
  return differing
}

async function perform(run: Run, { request, capture, wait }: Step): Promise<Answer> {
  if (wait) await setTimeout(wait)
  if (request.method === 'MAIL') return { status: 200, headers: {}, body: listEmailsTo(run, request.path) }
  const { headers, body } = await toRequest(run, request)
  const url = run.server + String(substitute(request.path, run.vars))
  const response = await fetch(url, { method: request.method, headers, body: body ?? null, redirect: 'manual' })
  const raw = await readResponse(response)
  const described = { status: response.status, headers: Object.fromEntries(response.headers), body: raw }
  expectDescribedResponse(request.method, url.slice(run.server.length), described)
  const location = response.headers.get('location') ?? undefined
  for (const [name, where] of Object.entries(capture ?? {})) {
    const last = location?.split('?')[0]?.split('/').at(-1)
    const value = where === 'location' ? last : pick(raw, where.split('.').slice(1))
    if (value !== undefined && value !== null) run.vars[name] = value
  }
  const comparedHeaders = {
    ...(location && { location }),
    'content-type': response.headers.get('content-type')?.split(';')[0] || undefined,
  }
  return {
    status: response.status,
    headers: normalize(comparedHeaders, run) as Record<string, string>,
    body: normalize(raw, run),
  }
}

/** Returns sender and subject of the emails to an address. */
function listEmailsTo({ mailbox }: Run, address: string): unknown {
  return mailbox.emails.filter(({ to }) => to.includes(address)).map(({ from, subject }) => ({ from, subject }))
}

async function toRequest(run: Run, request: Call) {
  const auth = substitute(request.auth ?? 'admin', run.vars) as string
  const requestHeaders = substitute(request.headers ?? {}, run.vars) as Record<string, string>
  const headers: Record<string, string> = { accept: 'application/json', ...requestHeaders }
  if (auth === 'admin') headers.authorization ??= `Bearer ${await adminToken(run)}`
  else if (auth === 'bad') headers.authorization = 'Bearer not-a-token'
  else if (auth !== 'none') headers.authorization = `Bearer ${auth}`
  if (request.json !== undefined) {
    headers['content-type'] ??= 'application/json'
    return { headers, body: JSON.stringify(substitute(request.json, run.vars)) }
  }
  if (request.parts) {
    const form = new FormData()
    for (const [name, part] of Object.entries(substitute(request.parts, run.vars) as Required<Call>['parts'])) {
      if (typeof part === 'string') form.append(name, part)
      else form.append(name, new Blob(['text' in part ? part.text : Buffer.from(part.base64, 'base64')]), part.filename)
    }
    return { headers, body: form }
  }
  if (!request.form) return { headers, body: substitute(request.text, run.vars) as string | undefined }
  return { headers, body: new URLSearchParams(substitute(request.form, run.vars) as Record<string, string>) }
}

async function adminToken(run: Run): Promise<string> {
  // A token is valid for a minute.
  if (run.token && Date.now() - run.token.at < 30_000) return run.token.text
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const response = await fetch(`${run.server}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  run.token = { text: ((await response.json()) as { access_token: string }).access_token, at: Date.now() }
  return run.token.text
}

/** Returns the body: JSON, a text, or whether there are bytes. */
async function readResponse(response: Response): Promise<unknown> {
  if (!/octet-stream|zip/.test(response.headers.get('content-type') ?? '')) return parseBody(await response.text())
  return (await response.arrayBuffer()).byteLength > 0 ? '<some bytes>' : '<no bytes>'
}

function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function substitute(value: unknown, vars: Run['vars']): unknown {
  if (typeof value === 'string') {
    const variable = /^\{\{(\w+)\}\}$/.exec(value)
    if (variable && vars[variable[1]!] !== undefined) return vars[variable[1]!]
    return value.replace(/\{\{(\w+)\}\}/g, (all, name) => (vars[name] === undefined ? all : String(vars[name])))
  }
  if (Array.isArray(value)) return value.map((element) => substitute(element, vars))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(
      ([key, member]) => [substitute(key, vars), substitute(member, vars)] as [string, unknown],
    ),
  )
}

function pick(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => {
    const match = /^\[(\w+)=(.*)\]$/.exec(key)
    if (match)
      return (at as Record<string, unknown>[] | undefined)?.find?.((element) => String(element[match[1]!]) === match[2])
    return (at as Record<string, unknown> | undefined | null)?.[key]
  }, value)
}

/** Replaces values that differ from run to run: captured values by their names; ids, times, tokens and secrets by placeholders. */
function normalize(value: unknown, run: Run): unknown {
  if (typeof value === 'string') return normalizeText(value, run)
  if (typeof value === 'number') return replaceVolatileValues(value)
  if (Array.isArray(value)) return value.map((element) => normalize(element, run))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /[-.]|^\d/.test(key) ? normalize(key, run) : key,
      // Help texts differ between the servers.
      key === 'helpText' && typeof member === 'string' ? '<text>' : normalize(member, run),
    ]),
  )
}

function normalizeText(value: string, run: Run): string {
  let text = value.replaceAll(run.server, '{{server}}')
  const longestFirst = Object.entries(run.vars).sort((a, b) => String(b[1]).length - String(a[1]).length)
  for (const [name, captured] of longestFirst) {
    if (typeof captured === 'string' && captured.length >= 6) text = text.replaceAll(captured, `{{${name}}}`)
  }
  return replaceVolatileValues(text) as string
}

/** Replaces ids, times, tokens and secrets by placeholders. */
export function replaceVolatileValues(value: string | number): string | number {
  if (typeof value === 'number')
    return value >= 1.5e12 && value < 3e12 ? '<ms>' : value >= 1.5e9 && value < 3e9 ? '<s>' : value
  return value
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>')
    .replace(/eyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g, '<jwt>')
    .replace(/\b1[5-9]\d{11}\b/g, '<ms>')
    .replace(/\b1[6-9]\d{8}\b/g, '<s>')
    .replace(/^(?=.*[A-Z])(?=.*[a-z])[\w-]{43}$/, '<thumbprint>')
    .replace(/^(?!.*Message$)(?=.*[A-Z])(?=.*[a-z])(?=.*\d|(?:.*[A-Z]){5})[A-Za-z0-9]{32,99}$/, '<secret>')
    .replace(/[A-Za-z0-9+/_-]{100,}={0,2}/g, '<base64>')
}

function findDifferences(step: Step, got: Answer): string[] {
  const want = step.response
  const differences: string[] = []
  const ignored = (path: string) => (step.ignore ?? []).includes(path)
  if (want.status !== got.status)
    differences.push(`status: ${want.status} expected, got ${got.status} ${abbreviate(got.body)}`)
  for (const name of ['location', 'content-type']) {
    const [a, b] = [want.headers?.[name], got.headers?.[name]]
    if (a !== b && !ignored(name)) differences.push(`${name}: ${a} expected, got ${b}`)
  }
  return [...differences, ...diff('body', want.body, got.body)]

  function diff(path: string, a: unknown, b: unknown): string[] {
    if (ignored(path) || JSON.stringify(a) === JSON.stringify(b)) return []
    // Older recordings omit an empty object; seconds pass; a scope is a set.
    if (path === 'body' && a === undefined && JSON.stringify(b) === '{}') return []
    if (path.endsWith('expires_in') && Math.abs(Number(a) - Number(b)) <= 2) return []
    if (path.endsWith('.scope') && words(a) === words(b)) return []
    // JSON texts are compared as values.
    const [expectedJson, actualJson] = [a, b].map((text) =>
      typeof text === 'string' && /^[{[]/.test(text) ? parseBody(text) : undefined,
    )
    if (typeof expectedJson === 'object' && typeof actualJson === 'object') return diff(path, expectedJson, actualJson)
    if (Array.isArray(a) && Array.isArray(b)) return diffLists(path, a, b)
    if (isObject(a) && isObject(b)) {
      return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
        diff(`${path}.${key}`, a[key], b[key]),
      )
    }
    return [`${path}: ${abbreviate(a)} expected, got ${abbreviate(b)}`]
  }

  function diffLists(path: string, a: readonly unknown[], b: readonly unknown[]): string[] {
    const inside = `${path}.[]`
    if (step.ordered === true || step.ordered === path) {
      return Array.from({ length: Math.max(a.length, b.length) }).flatMap((_, at) => diff(inside, a[at], b[at]))
    }
    const pool = [...b]
    const take = (fits: (other: unknown) => boolean) => {
      const at = pool.findIndex(fits)
      return at < 0 ? undefined : pool.splice(at, 1)
    }
    const unmatched = a.filter((item) => !take((other) => diff(inside, item, other).length === 0))
    const missing = unmatched.flatMap((item) => {
      const namesake = take((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(item))
      return namesake ? diff(inside, item, namesake[0]) : [`${inside}: missing ${abbreviate(item)}`]
    })
    return [...missing, ...pool.map((item) => `${inside}: unexpected ${abbreviate(item)}`)]
  }
}

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function words(text: unknown): string {
  return String(text).split(' ').sort().join(' ')
}

function nameOf(value: unknown): unknown {
  if (!isObject(value)) return undefined
  return value.clientId ?? value.username ?? value.alias ?? value.name ?? value.displayName ?? value.id
}

function abbreviate(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 140)
}
