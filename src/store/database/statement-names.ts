/** The most statements that a connection prepares. Regent has fewer texts, not counting those that are composed from conditions. */
const MOST_PREPARED = 500
/** The most texts that a connection remembers to have executed once. */
const MOST_REMEMBERED = 2_000

/**
 * A comment for statements that must not be prepared, since their best plan depends on their parameters. PostgreSQL plans a prepared
 * statement once for all parameters: the plan that finds a rare name fast reads all users with a common one.
 */
export const NOT_PREPARED = '/* not prepared */'

/** The names of the statements that a connection prepares. A text gets one at its second execution, since many texts are executed once. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  /** The texts that were executed once. */
  readonly #executed = new Set<string>()

  /** Whether no further text gets a name. */
  get isFull(): boolean {
    return this.#names.size >= MOST_PREPARED
  }

  /** Returns the name of a text that is about to be executed; undefined if it is not prepared. */
  find(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name || this.isFull || text.includes(NOT_PREPARED)) return name
    if (!this.#executed.delete(text)) {
      if (this.#executed.size >= MOST_REMEMBERED) this.#executed.clear()
      this.#executed.add(text)
      return undefined
    }
    const newName = `s${this.#names.size}`
    this.#names.set(text, newName)
    return newName
  }
}
