// Questions on the terminal.
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { interrupt, interruptible } from './terminal/interruption.ts'

/** Asks a question. Throws Error with the advice if the input ends before the answer. */
export async function prompt(question: string, advice: string): Promise<string> {
  return ask(createInterface({ input: process.stdin, output: process.stderr }), question, advice)
}

/** Asks a question without echoing the answer. Throws Error with the advice if the input ends before the answer. */
export async function promptSecret(question: string, advice: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true })
  return ask(terminal, '', advice).finally(() => process.stderr.write('\n'))
}

/** Whether a user can respond to questions. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/**
 * Asks to confirm what a command is about to do, which loses something. Throws Error unless the user agrees. Without a terminal, only the
 * flag `--yes` agrees.
 */
export async function confirm(effect: string, { yes }: { readonly yes?: true | undefined }): Promise<void> {
  if (yes) return
  if (!isInteractive()) throw new Error(`${effect} To confirm it without a terminal, pass --yes.`)
  const response = await prompt(`${effect} Continue? [y/N] `, 'Nothing was changed.')
  if (!/^y(es)?$/i.test(response.trim())) throw new Error('Nothing was changed.')
}

function ask(terminal: Interface, question: string, advice: string): Promise<string> {
  // A terminal in raw mode sends Ctrl-C as a key.
  terminal.on('SIGINT', () => interrupt('SIGINT'))
  const readLine = async (signal: AbortSignal) => {
    signal.addEventListener('abort', () => {
      terminal.close()
      process.stderr.write('\n')
    })
    // At the end of the input, the question itself never returns.
    const inputEnd = once(terminal, 'close').then(() => {
      throw new Error(advice)
    })
    const text = await Promise.race([terminal.question(question), inputEnd])
    terminal.close()
    return text
  }
  return interruptible(readLine, () => 'Nothing was changed.')
}
