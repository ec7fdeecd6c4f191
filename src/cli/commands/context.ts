import { changeContexts, getContext, getContextFile, type NamedContext, readContexts } from '../login/contexts.ts'
import { findCommandServer } from '../login/find-login.ts'
import { type Format, printTable } from '../print.ts'

/** `regent context list`: lists the contexts; the one in use has a mark. */
export async function list({ output }: { readonly output: Format }): Promise<void> {
  const { contexts, current } = await readContexts()
  const all = Object.entries(contexts).map(([name, context]) => toRepresentation({ ...context, name }, current))
  printTable(output, all, {
    head: ['Context', 'Server', 'Realm', 'User or client', 'Session', 'In use'],
    rows: all.map(({ name, server, realm, user, client, session, inUse }) => [
      name,
      server,
      realm,
      user ?? client ?? '',
      session,
      inUse ? 'yes' : '',
    ]),
    none: 'There is no context. "regent login" creates one.',
  })
}

/** `regent context use`: lets commands use a context unless they name another server or store. */
export async function use(name: string): Promise<void> {
  const { server } = await changeContexts(async (file) => [{ ...file, current: name }, getContext(file, name)])
  console.log(`The context ${name} is in use: ${server}.`)
}

/** `regent context delete`: deletes a context. Its session at the server is not ended. */
export async function remove(name: string): Promise<void> {
  await changeContexts(async (file) => {
    getContext(file, name)
    const { [name]: _, ...contexts } = file.contexts
    const { current, ...rest } = file
    return [{ ...rest, contexts, ...(current !== undefined && current !== name && { current }) }, undefined]
  })
  console.log(`The context ${name} is deleted.`)
}

/** `regent context show`: prints a context, and which server a command without options would use. */
export async function show(name: string | undefined, { output }: { readonly output: Format }): Promise<void> {
  const file = await readContexts()
  const contextName = name ?? (process.env.REGENT_CONTEXT || file.current)
  if (contextName === undefined) throw new Error('No context is in use. Name one, or run "regent login".')
  const context = toRepresentation(getContext(file, contextName), file.current)
  if (output === 'json') return console.log(JSON.stringify(context, null, 2))
  const { server, realm, user, client, session, inUse } = context
  const rows: [string, string][] = [
    ['Context', `${contextName}${inUse ? ' (in use)' : ''}`],
    ['Server', server],
    ['Realm', realm],
    user === undefined ? ['Client', client ?? ''] : ['User', user],
    ['Session', session],
    ['File', getContextFile()],
  ]
  for (const [title, value] of rows) console.log(`${`${title}:`.padEnd(10)}${value}`)
  console.log(`\nA command without options uses ${await describeChoice()}.\nPrecedence:`)
  for (const [at, line] of PRECEDENCE.entries()) console.log(`  ${at + 1}. ${line}`)
}

/** The order in which a command finds its server or store. */
export const PRECEDENCE = [
  '`--context`, `--server`, `--database` or `--data`',
  '`REGENT_CONTEXT`, `REGENT_SERVER`, `REGENT_DATABASE_DIRECT` or `REGENT_DATABASE`, `REGENT_DATA`',
  'the server in `regent.yaml`, if you have logged in there',
  'the context in use',
  'the folder `data`: the server that has it open, or the embedded store in it',
]

/** Returns in words what a command without options uses. */
async function describeChoice(): Promise<string> {
  try {
    const chosen = await findCommandServer({})
    if (!chosen) return 'a database or a folder, and no context'
    return chosen.context ? `the context ${chosen.context.name}` : `the server ${chosen.server}`
  } catch (error) {
    return `nothing: ${error instanceof Error ? error.message.replace(/\.$/, '') : String(error)}`
  }
}

function toRepresentation({ refreshToken, ...context }: NamedContext, current: string | undefined) {
  const { name, client } = context
  const session = client !== undefined ? 'for each command' : refreshToken === undefined ? 'logged out' : 'logged in'
  return { ...context, session, inUse: name === current }
}
