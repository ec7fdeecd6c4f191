// The description of a command, from which come its parser, its help, its page and its completion.
import type { Argument, Command, Option } from 'commander'
import type { EXIT_CODES } from './exit-codes.ts'

/** The values that commander passes to an action. Their types follow from the arguments and options. */
type ParsedValues = Parameters<Parameters<Command['action']>[0]>

/** A command, or a group of commands. */
export interface CommandEntry {
  readonly name: string
  /** The help text, in the imperative: at most 60 characters without a full stop. */
  readonly summary: string
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** Runs the command with the values of its arguments and its options by name. Absent for a group. */
  readonly run?: (values: ParsedValues, flags: ParsedValues[number]) => Promise<void>
  readonly commands?: readonly CommandEntry[]
  /** The exit codes besides 0 and 1. */
  readonly exitCodes?: readonly (keyof typeof EXIT_CODES)[]
  /** The group of the command in the help. Absent: that of the command before. */
  readonly group?: string
  /** Command lines with their purpose, for the help. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[]
}
