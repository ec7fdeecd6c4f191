// The completion scripts: bash completes commands, options and values, and the other shells accept their script.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeAll(async () => {
  cli = await createCommandFolder()
  await cli.shell('regent completion bash > completion', {})
})
afterAll(() => cli.remove())

/** Returns the completions of the last word of a command line. */
async function complete(...words: string[]): Promise<string[]> {
  const line = `source ./completion; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _regent; echo "\${COMPREPLY[@]}"`
  const { out } = await cli.shell(`bash -c '${line.replaceAll("'", "'\\''")}'`, {})
  return out.trim().split(' ')
}

test.each<[words: string[], completions: string[]]>([
  [
    ['regent', 'pl'],
    ['plan', 'plans'],
  ],
  [
    ['regent', 'source', 're'],
    ['resume', 'rename'],
  ],
  [['regent', 'plan', '--ta'], ['--target']],
  [['regent', 'plan', 'realms', '--summary', '--output', 'm'], ['markdown']],
  [['regent', 'apply', 'realms', '--pru'], ['--prune']],
  [
    ['regent', 'apply', '--prune', ''],
    ['managed', 'none', 'all'],
  ],
])('bash completes %j', async (words, completions) => {
  expect(await complete(...words)).toEqual(completions)
})

test('bash completes each command', async () => {
  expect(await complete('regent', '')).toEqual(expect.arrayContaining(commands.map(({ name }) => name)))
})

const hasShell = (shell: string) => spawnSync(shell, ['--version']).status === 0

describe.each(['zsh', 'fish'])('%s', (shell) => {
  test.runIf(hasShell(shell))('parses its script', async () => {
    expect(await cli.shell(`regent completion ${shell} | ${shell} --no-execute /dev/stdin`, {})).toMatchObject({
      code: 0,
      err: '',
    })
  })

  test('has each command and a valid structure', async () => {
    const { out } = await cli.run('completion', shell)
    for (const { name, summary } of commands) {
      expect(out).toContain(name)
      expect(out.replaceAll("'\\''", "'").replaceAll('\\:', ':')).toContain(summary)
    }
  })
})

test('an unknown shell is refused with the known ones', async () => {
  expect(await cli.run('completion', 'tcsh')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
  })
})
