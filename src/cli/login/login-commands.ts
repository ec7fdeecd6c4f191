// The commands that log in, and that choose a server.
import { Argument } from 'commander'
import type { CommandEntry } from '../command-entry.ts'
import { clientLoginOptions, option, output } from '../options.ts'

const contextName = new Argument('<name>', 'name of the context')
const contextOption = option('--context <name>', 'Use this context', {
  variable: 'REGENT_CONTEXT',
  fallback: 'that in use',
})

const list: Pick<CommandEntry, 'summary' | 'options' | 'run'> = {
  summary: 'List the contexts: servers and who logs in there',
  options: [output()],
  run: async (_values, flags) => (await import('../commands/context.ts')).list(flags),
}

/** The commands, in the order of the help. */
export const loginCommands: readonly CommandEntry[] = [
  {
    name: 'login',
    summary: 'Log in at a server, and use it as a context',
    options: [
      option('--server <URL>', 'Log in at this server', { variable: 'REGENT_SERVER', fallback: 'that in use' }),
      option('--realm <realm>', 'Log in at this realm', { variable: 'REGENT_LOGIN_REALM', fallback: 'master' }),
      option('--context <name>', 'Name the context', { fallback: 'host of the server' }),
      option('--no-browser', 'Print the URL, and ask for the code'),
      ...clientLoginOptions,
    ],
    run: async (_values, flags) => (await import('../commands/login.ts')).login(flags),
  },
  {
    name: 'logout',
    summary: 'End the session of a context',
    options: [contextOption],
    run: async (_values, flags) => (await import('../commands/login.ts')).logout(flags),
  },
  {
    name: 'context',
    ...list,
    commands: [
      { name: 'list', ...list },
      {
        name: 'use',
        summary: 'Use a context from now on',
        arguments: [contextName],
        run: async ([name]) => (await import('../commands/context.ts')).use(name),
      },
      {
        name: 'show',
        summary: 'Show a context, and what commands use',
        arguments: [new Argument('[name]', 'name of the context (default: that in use)')],
        options: [output()],
        run: async ([name], flags) => (await import('../commands/context.ts')).show(name, flags),
      },
      {
        name: 'delete',
        summary: 'Delete a context',
        arguments: [contextName],
        run: async ([name]) => (await import('../commands/context.ts')).remove(name),
      },
    ],
  },
]
