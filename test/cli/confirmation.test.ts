// The confirmation of a command that cannot be undone: a flag, or an answer on a terminal.
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { confirm } from '../../src/cli/prompt.ts'
import { createCommandFolder } from '../support/cli.ts'

afterEach(() => vi.restoreAllMocks())

describe('on a terminal', () => {
  /** Responds to the question of a confirmation, and returns the question. */
  async function respond(text: string): Promise<string> {
    const [input, output] = [new PassThrough(), new PassThrough()].map((stream) =>
      Object.assign(stream, { isTTY: true }),
    )
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin)
    vi.spyOn(process, 'stderr', 'get').mockReturnValue(output as unknown as typeof process.stderr)
    const confirmation = confirm('This deletes all.', {})
    if (text === '') input!.end()
    else input!.write(text)
    await confirmation
    return String(output!.read())
  }

  test.each(['y\n', 'Y\n', ' yes \n'])('%j confirms', async (text) => {
    expect(await respond(text)).toContain('This deletes all. Continue? [y/N] ')
  })

  test.each(['\n', 'n\n', 'yesterday\n', ''])('%j does not confirm', async (text) => {
    await expect(respond(text)).rejects.toThrow(/^Nothing was changed\.$/)
  })
})

test('without a terminal, erase requires --yes, and changes nothing without it', async () => {
  const cli = await createCommandFolder()
  try {
    for (const user of ['admin', 'zoe']) await cli.run('admin-password', user, '--create', '--new-password', 'x')
    expect(await cli.run('erase', 'master', 'zoe')).toMatchObject({
      code: 1,
      out: '',
      err: 'This deletes the user zoe of the realm master, and erases their values in the history. This cannot be undone. To confirm it without a terminal, pass --yes.\n',
    })
    expect(JSON.parse((await cli.run('get', 'master/users?username=zoe')).out)).toHaveLength(1)
    expect(await cli.run('erase', 'master', 'zoe', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^zoe is erased\. The account is deleted\./),
    })
  } finally {
    await cli.remove()
  }
})
